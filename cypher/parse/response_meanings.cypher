// Ties graphs whose nodes this transaction wrote to their responses.
// $amrs: {of: id of a response, id: id of the graph, properties}
// Columns: amrs
UNWIND $amrs AS row
MATCH (r:Response {id: row.of})
MATCH (n:AmrNode {amr: row.id}) WHERE n.k = 0
CREATE (r)-[:MEANS]->(a:Amr)-[:TOP]->(n) SET a = row.properties
RETURN count(*) AS amrs
