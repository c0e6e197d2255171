// Write the properties of terms that come from the lexicon.
// $terms: maps of text, form, classes, goods and sort
// Columns: terms (number of terms found)
UNWIND $terms AS row
MATCH (t:Term {text: row.text})
SET t.form = row.form, t.classes = row.classes, t.goods = row.goods, t.sort = row.sort
RETURN count(*) AS terms
