// Adds the shifts of this transaction to the edges of the shift graph; the terms are there.
// $rows: {focus, perspective: texts of terms, count}, sorted
// Columns: edges
UNWIND $rows AS row
MATCH (f:Term {text: row.focus})
MATCH (p:Term {text: row.perspective})
MERGE (f)-[s:SHIFTS_TO]->(p)
ON CREATE SET s.count = row.count
ON MATCH SET s.count = s.count + row.count
RETURN count(*) AS edges
