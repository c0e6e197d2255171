// Topics of the shift graph whose text may have been meant: it begins alike, or is about as long.
// $text:   what was asked for
// $prefix: how it begins
// Columns: topic
MATCH (t:Term)
WHERE (t.text STARTS WITH $prefix OR abs(size(t.text) - size($text)) <= 2) AND EXISTS { MATCH (t)-[:SHIFTS_TO]-(:Term) }
RETURN t.text AS topic
