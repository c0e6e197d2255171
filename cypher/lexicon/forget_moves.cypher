// Delete the ALTERNATIVE relationships from words to their replacements on a scale, such as "monday" to "thursday".
// $words: texts of the terms where the relationships start
// Columns: words (number of relationships deleted)
UNWIND $words AS word
MATCH (:Term {text: word})-[m:ALTERNATIVE]->(:Term)
DELETE m
RETURN count(*) AS words
