// Write the edits of variants, each linked to the node that it changes.
// $edits: maps of variant (id), step, at (graph id), at_k (node number) and the properties of an Edit
// Columns: edits (number written)
UNWIND $edits AS row
MATCH (v:Variant {id: row.variant})
MATCH (n:AmrNode {amr: row.at}) WHERE n.k = row.at_k
CREATE (v)-[:APPLIED {step: row.step}]->(e:Edit {
  transform: row.transform, category: row.category, site: row.site, op: row.op, amr: row.amr, k: row.k,
  role: row.role, concept: row.concept, value: row.value, copy_of: row.copy_of})-[:AT]->(n)
RETURN count(*) AS edits
