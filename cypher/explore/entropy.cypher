// entropy: How hard it is to guess where replies move to from a focus, in bits.
// $least (5): minimum number of post-reply pairs of a focus
// $limit (20): maximum number of rows; the highest entropies come first
// Columns: focus, pairs, perspectives (number of different ones), bits (entropy of the distribution of perspectives),
//          evenness (bits divided by the maximum for that many perspectives, 0 to 1; 0 for a single perspective)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
WITH f.text AS focus, sum(s.count) AS pairs, count(p) AS perspectives, sum(s.count * log(1.0 * s.count)) AS weighted
WHERE pairs >= $least
// H = log(N) - sum(c * log(c)) / N, for N pairs of which c go to each perspective.
WITH focus, pairs, perspectives, log(1.0 * pairs) - weighted / pairs AS nats
WITH focus, pairs, perspectives, round(nats / log(2.0), 3) AS bits,
     CASE WHEN perspectives = 1 THEN 0.0 ELSE round(nats / log(1.0 * perspectives), 3) END AS evenness
ORDER BY bits DESC, pairs DESC, focus
LIMIT $limit
RETURN focus, pairs, perspectives, bits, evenness
