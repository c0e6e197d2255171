// Writes which frames may stand in the place of frames of a term.
// $antonyms: {word, used_as (a frame's id), other (a frame's id), said_of}
// Columns: antonyms
UNWIND $antonyms AS row
MATCH (w:Term {text: row.word})
MATCH (x:Frame {id: row.other})
SET w.antonyms = true
CREATE (w)-[:ANTONYM {used_as: row.used_as, said_of: row.said_of}]->(x)
RETURN count(*) AS antonyms
