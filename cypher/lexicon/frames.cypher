// Write the classes of frames.
// $frames: maps of id and classes
// Columns: frames (number of frames with a lemma's term)
UNWIND $frames AS row
MATCH (f:Frame {id: row.id})
SET f.classes = row.classes
WITH f
MATCH (f)-[:LEXEME]->(t:Term)
SET t.frames = true
RETURN count(*) AS frames
