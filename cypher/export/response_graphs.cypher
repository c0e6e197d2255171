// Return the graphs of the responses in dialogues.
// $ids: ids of dialogues
// Columns: of (id of the response), amr (id of the graph), source, warnings (of the parser)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(:Utterance)-[:HAS_RESPONSE]->(r:Response)-[:MEANS]->(a:Amr)
RETURN r.id AS of, a.id AS amr, a.source AS source, a.warnings AS warnings
