// Which of these variants are in the store, and with which edits.
// $ids: ids of variants
// Columns: id, digest
UNWIND $ids AS id
MATCH (v:Variant {id: id})
RETURN v.id AS id, v.digest AS digest
