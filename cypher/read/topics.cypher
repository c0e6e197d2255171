// Return which of these texts are topics of the shift graph.
// $texts: texts
// Columns: topic
UNWIND $texts AS text
MATCH (t:Term {text: text})
WHERE EXISTS { MATCH (t)-[:SHIFTS_TO]-(:Term) }
RETURN t.text AS topic
