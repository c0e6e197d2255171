// Set the noun kind, such as animal or food, of each term that has no kind yet.
// $rows: maps of text and kind, sorted by text
// Columns: terms (number of the given terms that are in the store)
UNWIND $rows AS row
MATCH (t:Term {text: row.text})
SET t.kind = coalesce(t.kind, row.kind)
RETURN count(*) AS terms
