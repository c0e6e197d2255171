// perspectives: The topics to which replies shift from a given topic.
// $focus: topic that the replies take up
// $limit (20): maximum number of rows; the most frequent come first
// Columns: perspective, count (number of post-reply pairs), share (fraction of all pairs with this focus, from 0 to 1)
MATCH (f:Term {text: $focus})-[s:SHIFTS_TO]->(p:Term)
WITH p.text AS perspective, s.count AS count
ORDER BY count DESC, perspective
WITH collect({perspective: perspective, count: count}) AS found, sum(count) AS pairs
UNWIND found[..$limit] AS row
RETURN row.perspective AS perspective, row.count AS count, round(1.0 * row.count / pairs, 3) AS share
