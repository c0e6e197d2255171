// Return all edges of the shift graph.
// Columns: focus, neighbours (pairs of a term to which replies shift and the number of these replies: ["cake", 3])
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
RETURN f.text AS focus, collect([p.text, s.count]) AS neighbours
