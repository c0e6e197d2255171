// Return the terms that are mentioned by sentences of the sentence pool.
// $least: minimum number of sentences that mention a term
// Columns: text, sentences (number of sentences that mention the term), spoken (number of these that come from dialogues)
MATCH (t:Term)
WHERE t.sentences >= $least
RETURN t.text AS text, t.sentences AS sentences, t.spoken AS spoken
