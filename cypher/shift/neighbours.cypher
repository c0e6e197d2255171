// What replies move to from a keyword that they attend to: its neighbours in the shift graph.
// $foci: texts of terms
// Columns: focus, neighbours (lists of text, count; the highest count first, then by text)
UNWIND $foci AS focus
MATCH (f:Term {text: focus})-[s:SHIFTS_TO]->(p:Term)
WITH focus, p.text AS text, s.count AS count
ORDER BY count DESC, text
RETURN focus, collect([text, count]) AS neighbours
