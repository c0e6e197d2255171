// Writes PropBank rolesets, each tied to the term of its lemma.
// $frames: {id, term, properties}, sorted
// Columns: frames
UNWIND $frames AS row
MATCH (t:Term {text: row.term})
MERGE (f:Frame {id: row.id})
SET f += row.properties, t.frames = true
MERGE (f)-[:LEXEME]->(t)
RETURN count(*) AS frames
