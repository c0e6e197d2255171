// behind: The utterances behind a shift: posts, and the replies that moved from the focus to the perspective.
// $focus: topic of the posts that the replies respond to
// $perspective: topic that the replies move to
// $corpus (null): restrict the rows to this corpus; null means all corpora
// $limit (20): maximum number of rows
// Columns: reply_id, corpus, post, reply
MATCH (:Term {text: $focus})<-[:FOCUS]-(reply)-[:PERSPECTIVE]->(:Term {text: $perspective})
MATCH (post:Utterance)-[:NEXT|HAS_RESPONSE]->(reply)
MATCH (d:Dialogue)-[:HAS_TURN]->(post)
WHERE $corpus IS NULL OR d.corpus = $corpus
WITH d.order AS place, post.turn AS turn, reply.id AS reply_id, d.corpus AS corpus, post.text AS post, reply.text AS reply
ORDER BY place, turn, reply_id
LIMIT $limit
RETURN reply_id, corpus, post, reply
