// dead_ends: Topics that replies move to and that no pair moves on from.
// $limit (20): rows at most
// Columns: topic, incoming (pairs that shift to it), foci (different topics that they come from)
MATCH (p:Term)
WHERE NOT EXISTS { MATCH (p)-[:SHIFTS_TO]->(:Term) }
MATCH (f:Term)-[s:SHIFTS_TO]->(p)
WITH p.text AS topic, sum(s.count) AS incoming, count(f) AS foci
ORDER BY incoming DESC, topic
LIMIT $limit
RETURN topic, incoming, foci
