// Set the noun kinds of those terms that have no kind yet.
// $rows: maps of text and kind, sorted by text
// Columns: terms (number of terms given)
UNWIND $rows AS row
MATCH (t:Term {text: row.text})
SET t.kind = coalesce(t.kind, row.kind)
RETURN count(*) AS terms
