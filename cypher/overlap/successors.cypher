// For each term, return its successors in the shift graph: the terms to which replies shift from it.
// $terms: texts of terms
// $least: a shift is included only if at least this number of replies have it
// Columns: term, successors (texts of terms)
UNWIND $terms AS text
MATCH (a:Term {text: text})-[r:SHIFTS_TO]->(b:Term)
WHERE r.count >= $least
RETURN text AS term, collect(b.text) AS successors
