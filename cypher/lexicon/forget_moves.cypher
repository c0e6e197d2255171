// Delete the ALTERNATIVE relationships that start at words.
// $words: texts of terms
// Columns: words (number of relationships deleted)
UNWIND $words AS word
MATCH (:Term {text: word})-[m:ALTERNATIVE]->(:Term)
DELETE m
RETURN count(*) AS words
