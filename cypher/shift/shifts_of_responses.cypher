// Writes what responses attend to in the turn that they answer, and what they move to; the terms
// are there.
// $rows: {id, focus, perspective: texts of terms}, sorted
// Columns: replies
UNWIND $rows AS row
MATCH (r:Response {id: row.id})
MATCH (f:Term {text: row.focus})
MATCH (p:Term {text: row.perspective})
CREATE (r)-[:FOCUS]->(f)
CREATE (r)-[:PERSPECTIVE]->(p)
RETURN count(*) AS replies
