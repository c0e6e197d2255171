// Return the utterances in dialogues with all their properties.
// $ids: ids of dialogues
// Columns: id, utterances (their properties)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)
RETURN id, collect(properties(u)) AS utterances
