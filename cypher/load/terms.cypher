// Create the terms that are missing, with what the lexicon says about them.
// $terms: maps of text, form, classes, goods and sort, sorted by text, so that concurrent writers lock terms in one order
// Columns: terms (number of rows)
UNWIND $terms AS row
MERGE (t:Term {text: row.text})
ON CREATE SET t.form = row.form, t.classes = row.classes, t.goods = row.goods,
  t.sort = row.sort
RETURN count(*) AS terms
