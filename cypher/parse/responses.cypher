// Return the responses in dialogues, and their graphs.
// $ids: ids of dialogues
// Columns: id, texts (lists of turn, response id, text, graph id, graph source)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)-[:HAS_RESPONSE]->(r:Response)
OPTIONAL MATCH (r)-[:MEANS]->(a:Amr)
RETURN id, collect([u.turn, r.id, r.text, a.id, a.source]) AS texts
