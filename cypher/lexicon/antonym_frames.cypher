// Write the frames that may replace a frame of a term: "love" to hate-01.
// $antonyms: maps of word (text of a term), used_as (id of a frame of the term, or 'frame' for any frame that is not in
//   known), other (id of the antonym's frame), said_of (kinds of things that the pair holds for, or null), known
//   (ids of the term's frames that have edges of their own)
// Columns: antonyms (number written)
UNWIND $antonyms AS row
MATCH (w:Term {text: row.word})
MATCH (x:Frame {id: row.other})
SET w.antonyms = true
CREATE (w)-[:ANTONYM {used_as: row.used_as, said_of: row.said_of, known: row.known}]->(x)
RETURN count(*) AS antonyms
