// Add counts of shifts to the counts of the edges of the shift graph. All terms must exist in the store.
// $rows: maps with the keys focus and perspective (the texts of two terms) and count, sorted by focus and perspective
// Columns: edges (number of edges created or changed)
UNWIND $rows AS row
MATCH (f:Term {text: row.focus})
MATCH (p:Term {text: row.perspective})
MERGE (f)-[s:SHIFTS_TO]->(p)
ON CREATE SET s.count = row.count
ON MATCH SET s.count = s.count + row.count
RETURN count(*) AS edges
