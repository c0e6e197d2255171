// Return the edited graphs of variants (edited copies of dialogues) that are in the store.
// $ids: ids of variants
// Columns: amr (id)
UNWIND $ids AS id
MATCH (:Variant {id: id})-[:MEANS]->(a:Amr)
RETURN a.id AS amr
