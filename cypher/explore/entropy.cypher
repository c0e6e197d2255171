// entropy: How hard it is to guess where replies move to from a focus, in bits.
// $least (5): only foci of so many pairs
// $limit (20): rows at most, the hardest first
// Columns: focus, pairs, perspectives (different ones), bits (the entropy of its perspectives), evenness (bits by
//          what they could be at most; 0 where there is one perspective)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
WITH f.text AS focus, sum(s.count) AS pairs, count(p) AS perspectives, sum(s.count * log(1.0 * s.count)) AS weighted
WHERE pairs >= $least
WITH focus, pairs, perspectives, log(1.0 * pairs) - weighted / pairs AS nats
WITH focus, pairs, perspectives, round(nats / log(2.0), 3) AS bits,
     CASE WHEN perspectives = 1 THEN 0.0 ELSE round(nats / log(1.0 * perspectives), 3) END AS evenness
ORDER BY bits DESC, pairs DESC, focus
LIMIT $limit
RETURN focus, pairs, perspectives, bits, evenness
