// Link each utterance to the keyword that it takes up (focus) and to the keyword to which it shifts the topic
// (perspective). All terms must exist in the store.
// $rows: maps of id (of an utterance), focus and perspective (texts of terms); sorted by id
// Columns: replies (number of utterances linked)
UNWIND $rows AS row
MATCH (u:Utterance {id: row.id})
MATCH (f:Term {text: row.focus})
MATCH (p:Term {text: row.perspective})
CREATE (u)-[:FOCUS]->(f)
CREATE (u)-[:PERSPECTIVE]->(p)
RETURN count(*) AS replies
