// Topics of the shift graph whose text may have been meant: a lemma of it, one that begins alike or is about as long.
// $text:   what was asked for
// $prefix: how it begins
// $lemmas: texts that it may be a form of
// Columns: topic
MATCH (t:Term)
WHERE (t.text IN $lemmas OR t.text STARTS WITH $prefix OR abs(size(t.text) - size($text)) <= 2) AND EXISTS { MATCH (t)-[:SHIFTS_TO]-(:Term) }
RETURN t.text AS topic
