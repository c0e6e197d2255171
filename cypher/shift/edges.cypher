// Return all edges of the shift graph.
// Columns: focus, neighbours (lists of text, count)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
RETURN f.text AS focus, collect([p.text, s.count]) AS neighbours
