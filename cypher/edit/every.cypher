// Return all variants, that is, all edited copies of dialogues.
// Columns: id, digest (of the variant's edits)
MATCH (v:Variant)
RETURN v.id AS id, v.digest AS digest
