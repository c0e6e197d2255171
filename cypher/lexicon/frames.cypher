// Write the word classes of PropBank frames, and mark the terms of their lemmas as having frames.
// $frames: maps of id and classes
// Columns: frames (number of frames that are linked to the term of their lemma)
UNWIND $frames AS row
MATCH (f:Frame {id: row.id})
SET f.classes = row.classes
WITH f
MATCH (f)-[:LEXEME]->(t:Term)
SET t.frames = true
RETURN count(*) AS frames
