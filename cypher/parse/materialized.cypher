// Return those edited graphs of variants that were written to the store.
// $ids: ids of variants
// Columns: amr (id)
UNWIND $ids AS id
MATCH (:Variant {id: id})-[:MEANS]->(a:Amr)
RETURN a.id AS amr
