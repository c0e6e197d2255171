// Return the edited graphs that were written for variants.
// $ids: ids of variants
// Columns: amr
UNWIND $ids AS id
MATCH (:Variant {id: id})-[:MEANS]->(a:Amr)
RETURN a.id AS amr
