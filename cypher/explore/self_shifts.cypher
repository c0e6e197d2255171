// self_shifts: Topics with which replies stay, that is, shifts from a topic to itself.
// $limit (20): maximum number of rows; the most frequent come first
// Columns: topic, count (number of post-reply pairs that stay with the topic), share (fraction of all post-reply pairs
//          that shift from the topic, from 0 to 1)
MATCH (t:Term)-[s:SHIFTS_TO]->(t)
WITH t, s.count AS count, t.text AS topic
ORDER BY count DESC, topic
LIMIT $limit
MATCH (t)-[any:SHIFTS_TO]->(:Term)
WITH topic, count, sum(any.count) AS pairs
ORDER BY count DESC, topic
RETURN topic, count, round(1.0 * count / pairs, 3) AS share
