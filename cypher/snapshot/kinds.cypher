// Return the noun kinds (such as animal or food) of the terms in the shift graph. The kinds are part of a snapshot,
// because the kind of a term depends on the graphs of all dialogues.
// Columns: text, kind
MATCH (t:Term)
WHERE t.kind IS NOT NULL AND EXISTS { MATCH (t)-[:SHIFTS_TO]-(:Term) }
RETURN t.text AS text, t.kind AS kind
