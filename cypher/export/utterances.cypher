// Return the utterances in dialogues with all their properties.
// $ids: ids of dialogues
// Columns: id (of the dialogue), utterances (a map of properties for each utterance)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)
RETURN id, collect(properties(u)) AS utterances
