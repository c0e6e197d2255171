// Removes how words move along scales. $words: texts of terms
// Columns: words
UNWIND $words AS word
MATCH (:Term {text: word})-[m:MOVES_TO]->(:Term)
DELETE m
RETURN count(*) AS words
