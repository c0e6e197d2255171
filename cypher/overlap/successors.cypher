// For each term, return its successors in the shift graph: the terms to which replies shift from it.
// $terms: texts of terms
// $least: minimum number of replies that must shift from a term to its successor
// Columns: term, successors (texts of terms)
UNWIND $terms AS text
MATCH (a:Term {text: text})-[r:SHIFTS_TO]->(b:Term)
WHERE r.count >= $least
RETURN text AS term, collect(b.text) AS successors
