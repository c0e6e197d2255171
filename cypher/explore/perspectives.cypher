// perspectives: The topics to which replies shift from a given topic.
// $focus: topic of the post that the replies take up
// $limit (20): maximum number of rows; the most frequent perspectives come first
// Columns: perspective (topic to which the replies shift), count (number of post-reply pairs), share (fraction of all
//          post-reply pairs with this focus, from 0 to 1)
MATCH (f:Term {text: $focus})-[s:SHIFTS_TO]->(p:Term)
WITH p.text AS perspective, s.count AS count
ORDER BY count DESC, perspective
WITH collect({perspective: perspective, count: count}) AS found, sum(count) AS pairs
UNWIND found[..$limit] AS row
RETURN row.perspective AS perspective, row.count AS count, round(1.0 * row.count / pairs, 3) AS share
