// Link graphs to their responses. The same transaction has written the graphs' nodes.
// $amrs: maps of of (response id), id (graph id) and properties (of the Amr)
// Columns: amrs (number written)
UNWIND $amrs AS row
MATCH (r:Response {id: row.of})
MATCH (n:AmrNode {amr: row.id}) WHERE n.k = 0
CREATE (r)-[:MEANS]->(a:Amr)-[:TOP]->(n) SET a = row.properties
RETURN count(*) AS amrs
