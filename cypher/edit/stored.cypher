// Return which of the given variants (edited copies of dialogues) are in the store.
// $ids: ids of variants
// Columns: id, digest (of the variant's edits)
UNWIND $ids AS id
MATCH (v:Variant {id: id})
RETURN v.id AS id, v.digest AS digest
