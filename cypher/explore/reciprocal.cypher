// reciprocal: Pairs of topics with shifts in both directions.
// $limit (20): maximum number of rows. Pairs are sorted by the count of their rarer direction, highest first.
// Columns: one, other (the two topics), there (number of post-reply pairs that shift from one to other), back (number
//          of post-reply pairs that shift from other to one)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
WITH f, p, s.count AS there, f.text AS one, p.text AS other
// Keep each pair only once, in alphabetical order. This also leaves out shifts from a topic to itself.
WHERE one < other
MATCH (p)-[b:SHIFTS_TO]->(f)
WITH one, other, there, b.count AS back, there + b.count AS pairs,
     CASE WHEN there < b.count THEN there ELSE b.count END AS least
ORDER BY least DESC, pairs DESC, one, other
LIMIT $limit
RETURN one, other, there, back
