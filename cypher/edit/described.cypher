// What a variant is of, and how it was made. $id: id of a variant
// Columns: dialogue, recipe, seed, target, turn, slot
MATCH (v:Variant {id: $id})-[:VARIANT_OF]->(d:Dialogue)
RETURN d.id AS dialogue, v.recipe AS recipe, v.seed AS seed, v.target AS target, v.turn AS turn, v.slot AS slot
