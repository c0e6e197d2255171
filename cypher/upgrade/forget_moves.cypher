// Delete the MOVES_TO relationships that start at words.
// $words: texts of terms
// Columns: words (number of relationships deleted)
UNWIND $words AS word
MATCH (:Term {text: word})-[m:MOVES_TO]->(:Term)
DELETE m
RETURN count(*) AS words
