// For each term, return the terms that replies move on to from it (its successors in the shift graph).
// $terms: texts of terms
// $least: minimum count of a shift
// Columns: term, successors (texts of terms)
UNWIND $terms AS text
MATCH (a:Term {text: text})-[r:SHIFTS_TO]->(b:Term)
WHERE r.count >= $least
RETURN text AS term, collect(b.text) AS successors
