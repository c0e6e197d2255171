// Return the ConceptNet antonyms of words.
// $words: texts of terms
// Columns: word, other, weight (of the heaviest edge between the two)
UNWIND $words AS word
MATCH (w:Term {text: word})-[o:OPPOSITE {relation: 'Antonym'}]-(x:Term)
RETURN word, x.text AS other, max(coalesce(o.weight, 1.0)) AS weight
