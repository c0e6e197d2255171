// Return the dialogue from which each variant was made, and the settings with which the variant was made.
// $ids: ids of variants
// Columns: id, dialogue, recipe, seed, target ('response' or 'dialogue'), turn (of the response), slot (number of the
//          attempt to make the variant)
UNWIND $ids AS id
MATCH (v:Variant {id: id})-[:VARIANT_OF]->(d:Dialogue)
RETURN v.id AS id, d.id AS dialogue, v.recipe AS recipe, v.seed AS seed, v.target AS target, v.turn AS turn,
       v.slot AS slot
