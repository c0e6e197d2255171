// Link graphs to their responses. The caller has written the nodes of the graphs in the same transaction.
// $amrs: maps with the keys "of" (id of the response), "id" (of the graph) and "properties" (of the Amr)
// Columns: amrs (number of graphs linked)
UNWIND $amrs AS row
MATCH (r:Response {id: row.of})
MATCH (n:AmrNode {amr: row.id}) WHERE n.position = 0
CREATE (r)-[:MEANS]->(a:Amr)-[:TOP]->(n) SET a = row.properties
RETURN count(*) AS amrs
