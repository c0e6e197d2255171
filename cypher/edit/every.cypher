// All variants, with a digest of their edits.
// Columns: id, digest
MATCH (v:Variant)
RETURN v.id AS id, v.digest AS digest
