// Return the opposites, antonyms and shifts of all terms, to compute a digest of the store's content.
// ALTERNATIVE relationships are left out, because filling the sentence pool adds some, and must not change the digest.
// Columns: word, edges (lists of relationship type, other word or frame, properties)
MATCH (w:Term)-[r:OPPOSITE|ANTONYM|SHIFTS_TO]->(x)
RETURN w.text AS word, collect([type(r), coalesce(x.text, x.id), properties(r)]) AS edges
