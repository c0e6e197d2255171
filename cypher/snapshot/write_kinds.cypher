// Set the kinds of terms that have none yet.
// $rows: maps of text and kind, sorted by text
// Columns: terms (number of rows)
UNWIND $rows AS row
MATCH (t:Term {text: row.text})
SET t.kind = coalesce(t.kind, row.kind)
RETURN count(*) AS terms
