// Write variants. A variant is an overlay of its dialogue; apply_edits and apply_grafts add its edits.
// $variants: maps of dialogue (id) and the properties of a Variant
// Columns: variants (number written)
UNWIND $variants AS row
MATCH (d:Dialogue {id: row.dialogue})
CREATE (v:Variant {
  id: row.id, recipe: row.recipe, seed: row.seed, target: row.target, turn: row.turn, slot: row.slot,
  digest: row.digest})-[:VARIANT_OF]->(d)
RETURN count(*) AS variants
