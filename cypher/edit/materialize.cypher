// Link edited graphs to their variants (edited copies of dialogues). The caller has written the nodes of the graphs in
// the same transaction.
// $amrs: maps with the keys "of" (id of the variant), "id" (of the graph) and "properties" (of the Amr)
// Columns: amrs (number of graphs linked)
UNWIND $amrs AS row
MATCH (v:Variant {id: row.of})
MATCH (n:AmrNode {amr: row.id}) WHERE n.position = 0
CREATE (v)-[:MEANS]->(a:Amr)-[:TOP]->(n) SET a = row.properties
RETURN count(*) AS amrs
