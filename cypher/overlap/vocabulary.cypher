// Return the terms that sentences of the sentence pool mention.
// $least: minimum number of sentences that mention a term
// Columns: text, sentences (number of sentences that mention the term), spoken (number of these sentences that come
//          from dialogues)
MATCH (t:Term)
WHERE t.sentences >= $least
RETURN t.text AS text, t.sentences AS sentences, t.spoken AS spoken
