// Return the kinds of those terms that are in the shift graph. The kinds depend on the graphs of all dialogues.
// Columns: text, kind
MATCH (t:Term)
WHERE t.kind IS NOT NULL AND EXISTS { MATCH (t)-[:SHIFTS_TO]-(:Term) }
RETURN t.text AS text, t.kind AS kind
