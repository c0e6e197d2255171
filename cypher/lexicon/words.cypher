// Write the properties of terms that are computed from the lexicon, such as the noun class.
// $terms: maps of text, form, classes, physical_object and noun_class
// Columns: terms (number of terms found)
UNWIND $terms AS row
MATCH (t:Term {text: row.text})
SET t.form = row.form, t.classes = row.classes, t.physical_object = row.physical_object, t.noun_class = row.noun_class
RETURN count(*) AS terms
