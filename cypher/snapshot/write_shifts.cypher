// Set the counts of shifts to the counts in the whole corpus. All terms must exist in the store.
// $rows: maps of focus and perspective (texts of terms) and count, sorted
// Columns: edges (number of edges created or changed)
UNWIND $rows AS row
MATCH (f:Term {text: row.focus})
MATCH (p:Term {text: row.perspective})
MERGE (f)-[s:SHIFTS_TO]->(p)
SET s.count = row.count
RETURN count(*) AS edges
