// The kinds of the terms of the shift graph, which the graphs of all dialogues tell.
// Columns: text, kind
MATCH (t:Term)
WHERE t.kind IS NOT NULL AND EXISTS { MATCH (t)-[:SHIFTS_TO]-(:Term) }
RETURN t.text AS text, t.kind AS kind
