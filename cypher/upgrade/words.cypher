// Writes what the lexicon knows of terms. $terms: {text, form, classes, goods, sort}
// Columns: terms
UNWIND $terms AS row
MATCH (t:Term {text: row.text})
SET t.form = row.form, t.classes = row.classes, t.goods = row.goods, t.sort = row.sort
RETURN count(*) AS terms
