// corpus_shifts: What replies of one corpus move to when they attend to a topic.
// $focus: the topic that is attended to
// $corpus: the corpus
// $limit (20): rows at most
// Columns: perspective, count (pairs of the corpus), share (of its pairs with this focus)
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
