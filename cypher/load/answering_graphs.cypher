// Return those responses of the given dialogues that have a graph.
// $ids: ids of dialogues
// Columns: id (of the dialogue), responses (lists of response id, turn that it answers, text, graph id, graph source)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)-[:HAS_RESPONSE]->(r:Response)-[:MEANS]->(a:Amr)
RETURN id, collect([r.id, u.turn, r.text, a.id, a.source]) AS responses
