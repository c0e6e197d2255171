// corpus_shifts: What replies of one corpus move to from a topic.
// $focus: topic of the posts that the replies respond to
// $corpus: name of the corpus
// $limit (20): maximum number of rows; the most frequent come first
// Columns: perspective, count (post-reply pairs of the corpus), share (of the corpus's pairs with this focus, 0 to 1)
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
