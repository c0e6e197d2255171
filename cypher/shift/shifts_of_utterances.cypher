// Link utterances to their focus and their perspective. All terms must exist.
// $rows: maps of id (of an utterance), focus and perspective (texts of terms), sorted
// Columns: replies (number of utterances linked)
UNWIND $rows AS row
MATCH (u:Utterance {id: row.id})
MATCH (f:Term {text: row.focus})
MATCH (p:Term {text: row.perspective})
CREATE (u)-[:FOCUS]->(f)
CREATE (u)-[:PERSPECTIVE]->(p)
RETURN count(*) AS replies
