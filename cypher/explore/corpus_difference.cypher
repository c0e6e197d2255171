// corpus_difference: How often replies move from a topic to other keywords (their perspectives), compared between two
//   corpora.
// $focus: topic of the posts that the replies take up
// $one: name of the first corpus
// $other: name of the second corpus, with which the first is compared
// $limit (20): maximum number of rows; the largest differences come first
// Columns: perspective, one and other (number of post-reply pairs in each corpus), one_share and other_share (one and
//          other, divided by the number of pairs in that corpus whose replies take up the topic; from 0 to 1),
//          difference (one_share minus other_share)
MATCH (:Term {text: $focus})<-[:FOCUS]-(reply)
MATCH (post:Utterance)-[:NEXT|HAS_RESPONSE]->(reply)
MATCH (d:Dialogue)-[:HAS_TURN]->(post)
WHERE d.corpus IN [$one, $other]
MATCH (reply)-[:PERSPECTIVE]->(p:Term)
WITH p.text AS perspective, sum(CASE WHEN d.corpus = $one THEN 1 ELSE 0 END) AS one,
     sum(CASE WHEN d.corpus = $other THEN 1 ELSE 0 END) AS other
WITH collect({perspective: perspective, one: one, other: other}) AS found, sum(one) AS ones, sum(other) AS others
UNWIND found AS row
WITH row.perspective AS perspective, row.one AS one, row.other AS other,
     CASE ones WHEN 0 THEN 0.0 ELSE round(1.0 * row.one / ones, 3) END AS one_share,
     CASE others WHEN 0 THEN 0.0 ELSE round(1.0 * row.other / others, 3) END AS other_share
WITH perspective, one, other, one_share, other_share, round(one_share - other_share, 3) AS difference
WITH perspective, one, other, one_share, other_share, difference, abs(difference) AS size
ORDER BY size DESC, perspective
LIMIT $limit
RETURN perspective, one, other, one_share, other_share, difference
