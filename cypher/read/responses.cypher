// Return the responses in dialogues.
// $ids: ids of dialogues
// Columns: id (of the dialogue), responses (lists of response id, turn that is answered, text, label, source)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)-[:HAS_RESPONSE]->(r:Response)
RETURN id, collect([r.id, u.turn, r.text, r.label, r.source]) AS responses
