// Return the graphs of the utterances in dialogues.
// $ids: ids of dialogues
// Columns: of (id of the utterance), amr (id of the graph), source, warnings (of the parser)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)-[:MEANS]->(a:Amr)
RETURN u.id AS of, a.id AS amr, a.source AS source, a.warnings AS warnings
