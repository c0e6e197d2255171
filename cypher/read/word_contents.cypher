// What the store knows of words, as lists that are compared with those of another time: opposites, judged
// antonyms, moves along a scale and shifts.
// Columns: word, edges (lists of type, other word or frame, properties)
MATCH (w:Term)-[r:OPPOSITE|ANTONYM|MOVES_TO|SHIFTS_TO]->(x)
RETURN w.text AS word, collect([type(r), coalesce(x.text, x.id), properties(r)]) AS edges
