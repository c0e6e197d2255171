// Link each response to the keyword that it takes up (focus) and to the keyword to which it shifts the topic
// (perspective). All terms must exist in the store.
// $rows: maps of id (of a response), focus and perspective (texts of terms); sorted by id
// Columns: replies (number of responses linked)
UNWIND $rows AS row
MATCH (r:Response {id: row.id})
MATCH (f:Term {text: row.focus})
MATCH (p:Term {text: row.perspective})
CREATE (r)-[:FOCUS]->(f)
CREATE (r)-[:PERSPECTIVE]->(p)
RETURN count(*) AS replies
