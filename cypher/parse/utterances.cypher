// Return the utterances in dialogues, and their graphs.
// $ids: ids of dialogues
// Columns: id, texts (lists of turn, utterance id, text, graph id, graph source)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)
OPTIONAL MATCH (u)-[:MEANS]->(a:Amr)
RETURN id, collect([u.turn, u.id, u.text, a.id, a.source]) AS texts
