// Write variants. A variant is an edited copy of a dialogue, stored as a list of edits. This query writes the variants
// without their edits, which the queries apply_edits and apply_grafts add.
// $variants: maps with the key dialogue (id of the dialogue that was edited) and the properties of a Variant
// Columns: variants (number of variants written)
UNWIND $variants AS row
MATCH (d:Dialogue {id: row.dialogue})
CREATE (v:Variant {
  id: row.id, recipe: row.recipe, seed: row.seed, target: row.target, turn: row.turn, slot: row.slot,
  digest: row.digest})-[:VARIANT_OF]->(d)
RETURN count(*) AS variants
