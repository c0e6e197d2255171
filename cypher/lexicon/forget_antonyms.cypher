// Delete the ANTONYM relationships of words, so that they can be computed again.
// $words: texts of terms
// Columns: words (number of the words that are in the store)
UNWIND $words AS word
MATCH (w:Term {text: word})
SET w.antonyms = null
WITH w
OPTIONAL MATCH (w)-[a:ANTONYM]->()
DELETE a
RETURN count(DISTINCT w) AS words
