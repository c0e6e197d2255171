// Create the given terms, unless they are already in the store, with their properties from the lexicon.
// $terms: maps of text, form ('base', 'plural', 'verbal' or 'phrase'), classes (names of lexicon classes),
//   physical_object (true for a noun such as "car") and noun_class (class of similar nouns, such as 'like wine'). They
//   are sorted by text, so that concurrent transactions lock terms in the same order.
// Columns: terms (number of terms given)
UNWIND $terms AS row
MERGE (t:Term {text: row.text})
ON CREATE SET t.form = row.form, t.classes = row.classes, t.physical_object = row.physical_object,
  t.noun_class = row.noun_class
RETURN count(*) AS terms
