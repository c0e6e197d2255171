// Return topics of the shift graph that a misspelled or inflected text may stand for: a lemma of it, a topic with the same
// beginning, or one of about the same length.
// $text: text that the user gave
// $prefix: its first letters
// $lemmas: texts that it may be a form of
// Columns: topic
MATCH (t:Term)
WHERE (t.text IN $lemmas OR t.text STARTS WITH $prefix OR abs(size(t.text) - size($text)) <= 2) AND EXISTS { MATCH (t)-[:SHIFTS_TO]-(:Term) }
RETURN t.text AS topic
