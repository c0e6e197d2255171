// unanswered: Turns with a question to which the next turn gives no answer.
// $corpus (null): name of the only corpus to return rows for; null means all corpora
// $dialogue (null): id of the only dialogue to return rows for; null means all dialogues
// $speaker (null): name of the speaker who asks; null means all speakers
// $limit (20): maximum number of rows
// Columns: id, speaker, text, reply (text of the next turn)
MATCH (c:Clause {type: 'question'})
WHERE ($dialogue IS NULL OR c.dialogue = $dialogue) AND ($speaker IS NULL OR c.speaker = $speaker)
MATCH (u:Utterance)-[:HAS_CLAUSE]->(c)
OPTIONAL MATCH (c)<-[:ANSWERS]-(:Clause)<-[:HAS_CLAUSE]-(a:Utterance)
WITH u, count(a) AS answers
// The question has no answer: "Where do you live?" -> "Nice weather today."
WHERE answers = 0
MATCH (d:Dialogue)-[:HAS_TURN]->(u)-[:NEXT]->(v:Utterance)
WHERE $corpus IS NULL OR d.corpus = $corpus
WITH d.order AS dialogue_order, u.turn AS turn, u.id AS id, u.speaker AS speaker, u.text AS text, v.text AS reply
ORDER BY dialogue_order, turn
LIMIT $limit
RETURN id, speaker, text, reply
