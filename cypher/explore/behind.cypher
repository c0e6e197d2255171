// behind: The replies that shift from one topic (the focus) to another (the perspective), and the posts they reply to.
// $focus: topic of the post that the replies take up
// $perspective: topic to which the replies shift
// $corpus (null): name of the only corpus to return rows for; null means all corpora
// $limit (20): maximum number of rows
// Columns: reply_id, corpus, post (text of the turn that is replied to), reply (text of the reply)
MATCH (:Term {text: $focus})<-[:FOCUS]-(reply)-[:PERSPECTIVE]->(:Term {text: $perspective})
MATCH (post:Utterance)-[:NEXT|HAS_RESPONSE]->(reply)
MATCH (d:Dialogue)-[:HAS_TURN]->(post)
WHERE $corpus IS NULL OR d.corpus = $corpus
WITH d.order AS dialogue_order, post.turn AS turn, reply.id AS reply_id, d.corpus AS corpus, post.text AS post,
     reply.text AS reply
ORDER BY dialogue_order, turn, reply_id
LIMIT $limit
RETURN reply_id, corpus, post, reply
