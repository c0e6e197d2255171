// Return the ids of the graphs that contain at least one of the given words.
// $words: texts of terms
// Columns: id
UNWIND $words AS word
MATCH (:Term {text: word})<-[:LEXEME]-(n:AmrNode)
RETURN DISTINCT n.amr AS id
