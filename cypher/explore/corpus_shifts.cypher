// corpus_shifts: The topics to which replies in one corpus shift from a given topic.
// $focus: topic of the post that the replies take up
// $corpus: name of the corpus
// $limit (20): maximum number of rows; the most frequent perspectives come first
// Columns: perspective (topic to which the replies shift), count (number of post-reply pairs), share (fraction of all
//          post-reply pairs with this focus in the corpus, from 0 to 1)
MATCH (:Term {text: $focus})<-[:FOCUS]-(reply)
MATCH (post:Utterance)-[:NEXT|HAS_RESPONSE]->(reply)
MATCH (d:Dialogue)-[:HAS_TURN]->(post)
WHERE d.corpus = $corpus
MATCH (reply)-[:PERSPECTIVE]->(p:Term)
WITH p.text AS perspective, count(*) AS count
ORDER BY count DESC, perspective
WITH collect({perspective: perspective, count: count}) AS found, sum(count) AS pairs
UNWIND found[..$limit] AS row
RETURN row.perspective AS perspective, row.count AS count, round(1.0 * row.count / pairs, 3) AS share
