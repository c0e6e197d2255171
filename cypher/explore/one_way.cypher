// one_way: Frequent shifts that no pair ever takes back.
// $least (2): only shifts of so many pairs
// $limit (20): rows at most
// Columns: focus, perspective, count (pairs)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
WHERE s.count >= $least
WITH f, p, s.count AS count
WHERE NOT EXISTS { MATCH (p)-[:SHIFTS_TO]->(f) }
WITH f.text AS focus, p.text AS perspective, count
ORDER BY count DESC, focus, perspective
LIMIT $limit
RETURN focus, perspective, count
