// one_way: Frequent shifts that never occur in the reverse direction.
// $least (2): minimum number of post-reply pairs with a shift
// $limit (20): maximum number of rows; the most frequent come first
// Columns: focus (topic that replies take up), perspective (topic to which they shift), count (number of post-reply
//          pairs)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
WHERE s.count >= $least
WITH f, p, s.count AS count
// If replies shift from "rain" to "umbrella", no reply shifts from "umbrella" to "rain".
WHERE NOT EXISTS { MATCH (p)-[:SHIFTS_TO]->(f) }
WITH f.text AS focus, p.text AS perspective, count
ORDER BY count DESC, focus, perspective
LIMIT $limit
RETURN focus, perspective, count
