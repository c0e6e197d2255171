// Write the edits that copy a subtree. Link each edit to the node that it changes and to the root of the copied
// subtree.
// $edits: maps as in apply_edits, with from_amr and from_position (graph id and position of the subtree's root)
// Columns: edits (number of edits written)
UNWIND $edits AS row
MATCH (v:Variant {id: row.variant})
MATCH (n:AmrNode {amr: row.at}) WHERE n.position = row.at_position
MATCH (s:AmrNode {amr: row.from_amr}) WHERE s.position = row.from_position
CREATE (v)-[:APPLIED {step: row.step}]->(e:Edit {
  transform: row.transform, category: row.category, site: row.site, op: row.op, amr: row.amr, position: row.position,
  role: row.role, from_amr: row.from_amr, from_position: row.from_position, copy_of: row.copy_of,
  voice: row.voice, frame: row.frame})-[:AT]->(n)
CREATE (e)-[:FROM]->(s)
RETURN count(*) AS edits
