// entropy: How hard it is to predict to which topic (perspective) replies shift from a topic (focus), measured in bits.
// $least (5): minimum number of post-reply pairs with the same focus
// $limit (20): maximum number of rows; the highest entropies come first
// Columns: focus, pairs (number of post-reply pairs), perspectives (number of distinct perspectives), bits (entropy of
//          the distribution of perspectives), evenness (bits, divided by the maximum entropy for this number of
//          perspectives: from 0 to 1; 0 if there is only one perspective)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
WITH f.text AS focus, sum(s.count) AS pairs, count(p) AS perspectives, sum(s.count * log(1.0 * s.count)) AS weighted
WHERE pairs >= $least
// The entropy of one focus is H = log(N) - sum(c * log(c)) / N. N is the number of post-reply pairs that shift from
// the focus. The sum has one term for each perspective; c is the number of pairs that shift to this perspective.
WITH focus, pairs, perspectives, log(1.0 * pairs) - weighted / pairs AS nats
WITH focus, pairs, perspectives, round(nats / log(2.0), 3) AS bits,
     CASE WHEN perspectives = 1 THEN 0.0 ELSE round(nats / log(1.0 * perspectives), 3) END AS evenness
ORDER BY bits DESC, pairs DESC, focus
LIMIT $limit
RETURN focus, pairs, perspectives, bits, evenness
