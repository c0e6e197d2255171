// Writes variants: each an overlay of its dialogue, edits to come.
// $variants: {dialogue: id, and properties of a Variant}
// Columns: variants
UNWIND $variants AS row
MATCH (d:Dialogue {id: row.dialogue})
CREATE (v:Variant {
  id: row.id, recipe: row.recipe, seed: row.seed, target: row.target, turn: row.turn, slot: row.slot,
  digest: row.digest})-[:VARIANT_OF]->(d)
RETURN count(*) AS variants
