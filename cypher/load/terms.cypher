// Makes sure that terms are there, with what the lexicon knows of them.
// $terms: {text, form, classes, goods, sort}, sorted by text, so that writers lock in one order.
// Columns: terms
UNWIND $terms AS row
MERGE (t:Term {text: row.text})
ON CREATE SET t.form = row.form, t.classes = row.classes, t.goods = row.goods,
  t.sort = row.sort
RETURN count(*) AS terms
