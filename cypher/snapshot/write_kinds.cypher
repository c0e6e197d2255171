// Gives terms their kinds. $rows: {text, kind}, sorted
// Columns: terms
UNWIND $rows AS row
MATCH (t:Term {text: row.text})
SET t.kind = coalesce(t.kind, row.kind)
RETURN count(*) AS terms
