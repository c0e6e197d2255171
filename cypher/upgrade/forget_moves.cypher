// Delete the MOVES_TO edges of words.
// $words: texts of terms
// Columns: words (number of edges deleted)
UNWIND $words AS word
MATCH (:Term {text: word})-[m:MOVES_TO]->(:Term)
DELETE m
RETURN count(*) AS words
