// perspectives: What replies move to when they attend to a topic.
// $focus: the topic that is attended to
// $limit (20): rows at most
// Columns: perspective, count (pairs), share (of the pairs with this focus)
MATCH (f:Term {text: $focus})-[s:SHIFTS_TO]->(p:Term)
WITH p.text AS perspective, s.count AS count
ORDER BY count DESC, perspective
WITH collect({perspective: perspective, count: count}) AS found, sum(count) AS pairs
UNWIND found[..$limit] AS row
RETURN row.perspective AS perspective, row.count AS count, round(1.0 * row.count / pairs, 3) AS share
