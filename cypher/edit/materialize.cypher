// Ties edited graphs, whose nodes this transaction wrote, to their variants.
// $amrs: {of: id of a variant, id: id of the edited graph, properties}
// Columns: amrs
UNWIND $amrs AS row
MATCH (v:Variant {id: row.of})
MATCH (n:AmrNode {amr: row.id}) WHERE n.k = 0
CREATE (v)-[:MEANS]->(a:Amr)-[:TOP]->(n) SET a = row.properties
RETURN count(*) AS amrs
