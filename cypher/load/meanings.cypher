// Link graphs to their utterances. The caller has written the nodes of the graphs in the same transaction.
// $amrs: maps with the keys "of" (id of the utterance), "id" (of the graph) and "properties" (of the Amr)
// Columns: amrs (number of graphs linked)
UNWIND $amrs AS row
MATCH (u:Utterance {id: row.of})
MATCH (n:AmrNode {amr: row.id}) WHERE n.position = 0
CREATE (u)-[:MEANS]->(a:Amr)-[:TOP]->(n) SET a = row.properties
RETURN count(*) AS amrs
