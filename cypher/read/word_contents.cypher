// Return the opposites, antonyms and shifts of all terms, to compute a digest of the store's content.
// MOVES_TO edges are left out, because each new word of the sentence pool gets its own.
// Columns: word, edges (lists of type, other word or frame, properties)
MATCH (w:Term)-[r:OPPOSITE|ANTONYM|SHIFTS_TO]->(x)
RETURN w.text AS word, collect([type(r), coalesce(x.text, x.id), properties(r)]) AS edges
