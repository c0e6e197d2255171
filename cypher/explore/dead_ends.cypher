// dead_ends: Topics to which replies shift, but from which no reply shifts.
// $limit (20): maximum number of rows; the most frequent topics come first
// Columns: topic, incoming (number of post-reply pairs that shift to the topic), foci (number of topics from which
//          these pairs shift)
MATCH (p:Term)
// No reply shifts from the topic, neither to another topic nor to the topic itself.
WHERE NOT EXISTS { MATCH (p)-[:SHIFTS_TO]->(:Term) }
MATCH (f:Term)-[s:SHIFTS_TO]->(p)
WITH p.text AS topic, sum(s.count) AS incoming, count(f) AS foci
ORDER BY incoming DESC, topic
LIMIT $limit
RETURN topic, incoming, foci
