// Removes what was judged of words. $words: texts of terms
// Columns: words
UNWIND $words AS word
MATCH (w:Term {text: word})
SET w.antonyms = null
WITH w
OPTIONAL MATCH (w)-[a:ANTONYM]->()
DELETE a
RETURN count(DISTINCT w) AS words
