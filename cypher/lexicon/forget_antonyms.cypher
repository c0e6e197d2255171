// Delete the ANTONYM edges of words, before they are computed anew.
// $words: texts of terms
// Columns: words (number of terms found)
UNWIND $words AS word
MATCH (w:Term {text: word})
SET w.antonyms = null
WITH w
OPTIONAL MATCH (w)-[a:ANTONYM]->()
DELETE a
RETURN count(DISTINCT w) AS words
