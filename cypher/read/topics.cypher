// Return which of the given texts are topics in the shift graph.
// $texts: texts that may be topics
// Columns: topic
UNWIND $texts AS text
MATCH (t:Term {text: text})
WHERE EXISTS { MATCH (t)-[:SHIFTS_TO]-(:Term) }
RETURN t.text AS topic
