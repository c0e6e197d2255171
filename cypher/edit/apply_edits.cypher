// Write the edits of variants, and link each edit to the node that it changes.
// $edits: maps with the keys variant (id of the variant), step (order of the edit), at and at_position (graph id and
//   position of the node that is changed), and the properties of an Edit
// Columns: edits (number of edits written)
UNWIND $edits AS row
MATCH (v:Variant {id: row.variant})
MATCH (n:AmrNode {amr: row.at}) WHERE n.position = row.at_position
CREATE (v)-[:APPLIED {step: row.step}]->(e:Edit {
  transform: row.transform, category: row.category, site: row.site, op: row.op, amr: row.amr, position: row.position,
  role: row.role, concept: row.concept, value: row.value, copy_of: row.copy_of})-[:AT]->(n)
RETURN count(*) AS edits
