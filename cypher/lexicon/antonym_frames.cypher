// Writes which frames may stand in the place of frames of a term.
// $antonyms: {word, used_as (a frame's id, or 'frame' for any that is not known), other (a frame's id),
//             said_of, known}
// Columns: antonyms
UNWIND $antonyms AS row
MATCH (w:Term {text: row.word})
MATCH (x:Frame {id: row.other})
SET w.antonyms = true
CREATE (w)-[:ANTONYM {used_as: row.used_as, said_of: row.said_of, known: row.known}]->(x)
RETURN count(*) AS antonyms
