// Return all variants, that is, all edited dialogues.
// Columns: id, digest (of the variant's edits)
MATCH (v:Variant)
RETURN v.id AS id, v.digest AS digest
