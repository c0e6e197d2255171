// Return the ids of the graphs of all turns of the given dialogues, in sorted order.
// $ids: ids of dialogues
// Columns: amr (id)
UNWIND $ids AS id
MATCH (:Dialogue {id: id})-[:HAS_TURN]->(:Utterance)-[:MEANS]->(a:Amr)
RETURN DISTINCT a.id AS amr
ORDER BY amr
