// What the store knows of words, as lists that are compared with those of another time: opposites, judged
// antonyms and shifts. Moves along a scale are left out: each new word of the sentence pool gets its own.
// Columns: word, edges (lists of type, other word or frame, properties)
MATCH (w:Term)-[r:OPPOSITE|ANTONYM|SHIFTS_TO]->(x)
RETURN w.text AS word, collect([type(r), coalesce(x.text, x.id), properties(r)]) AS edges
