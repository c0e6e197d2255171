// Create the given terms, unless they are already in the store, with their properties from the lexicon.
// $terms: maps of text, form, classes, physical_object and noun_class. They are sorted by text, so that concurrent
//   transactions lock terms in the same order.
// Columns: terms (number of terms given)
UNWIND $terms AS row
MERGE (t:Term {text: row.text})
ON CREATE SET t.form = row.form, t.classes = row.classes, t.physical_object = row.physical_object,
  t.noun_class = row.noun_class
RETURN count(*) AS terms
