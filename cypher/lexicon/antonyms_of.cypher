// Return the antonyms that ConceptNet lists for words.
// $words: texts of terms
// Columns: word, replacement (text of the antonym), weight (the highest weight of an edge between the two words)
UNWIND $words AS word
MATCH (w:Term {text: word})-[o:OPPOSITE {relation: 'Antonym'}]-(x:Term)
RETURN word, x.text AS other, max(coalesce(o.weight, 1.0)) AS weight
