// contradictions: Clauses that contradict an earlier clause of their dialogue.
// $corpus (null): name of the only corpus to return rows for; null means all corpora
// $dialogue (null): id of the only dialogue to return rows for; null means all dialogues
// $speaker (null): name of the speaker who contradicts; null means all speakers
// $limit (20): maximum number of rows
// Columns: id (of the utterance or response), speaker, text, earlier_id, earlier_speaker, earlier_text
MATCH (c:Clause)-[:CONTRADICTS]->(e:Clause)
WHERE ($dialogue IS NULL OR c.dialogue = $dialogue) AND ($speaker IS NULL OR c.speaker = $speaker)
MATCH (d:Dialogue {id: c.dialogue})
WHERE $corpus IS NULL OR d.corpus = $corpus
MATCH (said)-[:HAS_CLAUSE]->(c)
MATCH (before)-[:HAS_CLAUSE]->(e)
WITH d.order AS dialogue_order, c.turn AS turn, e.turn AS earlier_turn, said.id AS id, c.speaker AS speaker,
     said.text AS text, before.id AS earlier_id, e.speaker AS earlier_speaker, before.text AS earlier_text,
     c.index AS number, e.index AS earlier_number
ORDER BY dialogue_order, turn, id, number, earlier_turn, earlier_number
LIMIT $limit
RETURN id, speaker, text, earlier_id, earlier_speaker, earlier_text
