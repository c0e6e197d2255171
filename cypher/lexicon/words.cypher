// Write the properties of terms that are computed from the lexicon, such as the noun class.
// $terms: maps of text, form ('base', 'plural', 'verbal' or 'phrase'), classes (names of lexicon classes),
//   physical_object (true for a noun such as "car") and noun_class (class of similar nouns, such as 'like wine')
// Columns: terms (number of terms found)
UNWIND $terms AS row
MATCH (t:Term {text: row.text})
SET t.form = row.form, t.classes = row.classes, t.physical_object = row.physical_object, t.noun_class = row.noun_class
RETURN count(*) AS terms
