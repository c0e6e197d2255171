// dead_ends: Topics that replies move on to, but that no reply moves on from.
// $limit (20): maximum number of rows; the most frequent topics come first
// Columns: topic, incoming (number of post-reply pairs that shift to it), foci (number of topics that they shift from)
MATCH (p:Term)
WHERE NOT EXISTS { MATCH (p)-[:SHIFTS_TO]->(:Term) }
MATCH (f:Term)-[s:SHIFTS_TO]->(p)
WITH p.text AS topic, sum(s.count) AS incoming, count(f) AS foci
ORDER BY incoming DESC, topic
LIMIT $limit
RETURN topic, incoming, foci
