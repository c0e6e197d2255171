// The terms that sentences of the pool mention, with how many do, and how many of these are said in dialogues.
// $least: how many at least must mention a term
// Columns: text, sentences, spoken
MATCH (t:Term)
WHERE t.sentences >= $least
RETURN t.text AS text, t.sentences AS sentences, t.spoken AS spoken
