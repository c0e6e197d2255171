// Link graphs to their utterances. The same transaction has written the graphs' nodes.
// $amrs: maps of of (utterance id), id (graph id) and properties (of the Amr)
// Columns: amrs (number written)
UNWIND $amrs AS row
MATCH (u:Utterance {id: row.of})
MATCH (n:AmrNode {amr: row.id}) WHERE n.k = 0
CREATE (u)-[:MEANS]->(a:Amr)-[:TOP]->(n) SET a = row.properties
RETURN count(*) AS amrs
