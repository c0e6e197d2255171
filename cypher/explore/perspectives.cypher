// perspectives: What replies move to from a topic.
// $focus: topic of the posts that the replies respond to
// $limit (20): maximum number of rows; the most frequent come first
// Columns: perspective, count (post-reply pairs), share (of all pairs with this focus, 0 to 1)
MATCH (f:Term {text: $focus})-[s:SHIFTS_TO]->(p:Term)
WITH p.text AS perspective, s.count AS count
ORDER BY count DESC, perspective
WITH collect({perspective: perspective, count: count}) AS found, sum(count) AS pairs
UNWIND found[..$limit] AS row
RETURN row.perspective AS perspective, row.count AS count, round(1.0 * row.count / pairs, 3) AS share
