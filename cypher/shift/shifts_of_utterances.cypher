// Writes what utterances attend to in the one before, and what they move to; the terms are there.
// $rows: {id, focus, perspective: texts of terms}, sorted
// Columns: replies
UNWIND $rows AS row
MATCH (u:Utterance {id: row.id})
MATCH (f:Term {text: row.focus})
MATCH (p:Term {text: row.perspective})
CREATE (u)-[:FOCUS]->(f)
CREATE (u)-[:PERSPECTIVE]->(p)
RETURN count(*) AS replies
