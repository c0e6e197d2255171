// The responses that fit, in dialogues.
// $ids: ids of dialogues
// Columns: id, responses (lists of the turn answered, response id, text)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)-[:HAS_RESPONSE]->(r:Response)
WHERE r.label = 1
RETURN id, collect([u.turn, r.id, r.text]) AS responses
