// What a corpus usually shifts to from terms: the ends of their shift edges.
// $terms: texts of terms; $least: how often a shift is made at least
// Columns: term, successors (texts)
UNWIND $terms AS text
MATCH (a:Term {text: text})-[r:SHIFTS_TO]->(b:Term)
WHERE r.count >= $least
RETURN text AS term, collect(b.text) AS successors
