// Write the terms that may replace a term: "old" to "young".
// $antonyms: maps of word (text of a term), used_as ('noun' or 'modifier'), other (text of the antonym), said_of (kinds
//   of things that the pair holds for, or null)
// Columns: antonyms (number written)
UNWIND $antonyms AS row
MATCH (w:Term {text: row.word})
MATCH (x:Term {text: row.other})
SET w.antonyms = true
CREATE (w)-[:ANTONYM {used_as: row.used_as, said_of: row.said_of}]->(x)
RETURN count(*) AS antonyms
