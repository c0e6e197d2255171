// The turns of dialogues.
// $ids: ids of dialogues
// Columns: id, turns (lists of turn, utterance id, text)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)
RETURN id, collect([u.turn, u.id, u.text]) AS turns
