// Sets the counts of shifts to those of a whole corpus; the terms are there.
// $rows: {focus, perspective: texts of terms, count}, sorted
// Columns: edges
UNWIND $rows AS row
MATCH (f:Term {text: row.focus})
MATCH (p:Term {text: row.perspective})
MERGE (f)-[s:SHIFTS_TO]->(p)
SET s.count = row.count
RETURN count(*) AS edges
