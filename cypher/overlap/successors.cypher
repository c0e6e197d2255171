// Return the terms that replies of a corpus shift to from each term.
// $terms: texts of terms
// $least: minimum count of a shift
// Columns: term, successors (texts of terms)
UNWIND $terms AS text
MATCH (a:Term {text: text})-[r:SHIFTS_TO]->(b:Term)
WHERE r.count >= $least
RETURN text AS term, collect(b.text) AS successors
