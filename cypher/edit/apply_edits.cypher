// Writes the edits of variants, each tied to the node where it works.
// $edits: {variant: id, step, at: graph id, k, properties}
// Columns: edits
UNWIND $edits AS row
MATCH (v:Variant {id: row.variant})
MATCH (n:AmrNode {amr: row.at}) WHERE n.k = row.k
CREATE (v)-[:APPLIED {step: row.step}]->(e:Edit)-[:AT]->(n) SET e = row.properties
RETURN count(*) AS edits
