// Write what the lexicon says about terms.
// $terms: maps of text, form, classes, goods and sort
// Columns: terms (number of rows)
UNWIND $terms AS row
MATCH (t:Term {text: row.text})
SET t.form = row.form, t.classes = row.classes, t.goods = row.goods, t.sort = row.sort
RETURN count(*) AS terms
