// Write PropBank rolesets as Frame nodes, and link each of them to the term of its lemma.
// $frames: maps of id, term (text of the lemma's term) and properties, sorted by id
// Columns: frames (number of frames written)
UNWIND $frames AS row
MATCH (t:Term {text: row.term})
MERGE (f:Frame {id: row.id})
SET f += row.properties, t.frames = true
MERGE (f)-[:LEXEME]->(t)
RETURN count(*) AS frames
