// origins: The topics from which replies shift to a given topic.
// $perspective: topic to which the replies shift
// $limit (20): maximum number of rows; the most frequent foci come first
// Columns: focus (topic from which the replies shift), count (number of post-reply pairs), share (fraction of all
//          post-reply pairs with this focus, from 0 to 1)
MATCH (f:Term)-[s:SHIFTS_TO]->(:Term {text: $perspective})
WITH f, s.count AS count, f.text AS focus
ORDER BY count DESC, focus
LIMIT $limit
MATCH (f)-[any:SHIFTS_TO]->(:Term)
WITH focus, count, sum(any.count) AS pairs
ORDER BY count DESC, focus
RETURN focus, count, round(1.0 * count / pairs, 3) AS share
