// origins: Where replies that move to a topic come from.
// $perspective: the topic that is moved to
// $limit (20): rows at most
// Columns: focus, count (pairs), share (of the pairs with this focus: how usual the shift is from there)
MATCH (f:Term)-[s:SHIFTS_TO]->(:Term {text: $perspective})
WITH f, s.count AS count, f.text AS focus
ORDER BY count DESC, focus
LIMIT $limit
MATCH (f)-[any:SHIFTS_TO]->(:Term)
WITH focus, count, sum(any.count) AS pairs
ORDER BY count DESC, focus
RETURN focus, count, round(1.0 * count / pairs, 3) AS share
