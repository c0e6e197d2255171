// Link edited graphs to their variants. The same transaction has written the graphs' nodes.
// $amrs: maps of of (variant id), id (graph id) and properties (of the Amr)
// Columns: amrs (number written)
UNWIND $amrs AS row
MATCH (v:Variant {id: row.of})
MATCH (n:AmrNode {amr: row.id}) WHERE n.k = 0
CREATE (v)-[:MEANS]->(a:Amr)-[:TOP]->(n) SET a = row.properties
RETURN count(*) AS amrs
