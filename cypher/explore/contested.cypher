// contested: Pairs of opposite topics, such as "hot" and "cold", to which replies shift from the same topic (focus).
// $focus (null): the only topic to return rows for; null means all topics
// $limit (20): maximum number of rows
// Columns: focus, perspective, opposite, perspective_count (number of post-reply pairs that shift from the focus to the
//          perspective), opposite_count (number of post-reply pairs that shift from the focus to the opposite)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term {opposites: true})
WHERE $focus IS NULL OR f.text = $focus
MATCH (p)-[:OPPOSITE]-(q:Term)
// The pattern matches each pair of opposites twice, once from each end. Keep only the match in alphabetical order.
WHERE p.text < q.text
WITH DISTINCT f, s.count AS perspective_count, p, q
MATCH (f)-[t:SHIFTS_TO]->(q)
WITH f.text AS focus, p.text AS perspective, q.text AS opposite, perspective_count, t.count AS opposite_count,
     perspective_count + t.count AS pairs
ORDER BY pairs DESC, focus, perspective, opposite
LIMIT $limit
RETURN focus, perspective, opposite, perspective_count, opposite_count
