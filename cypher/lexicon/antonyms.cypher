// Writes which terms may stand in the place of which.
// $antonyms: {word, used_as, other, said_of}
// Columns: antonyms
UNWIND $antonyms AS row
MATCH (w:Term {text: row.word})
MATCH (x:Term {text: row.other})
SET w.antonyms = true
CREATE (w)-[:ANTONYM {used_as: row.used_as, said_of: row.said_of}]->(x)
RETURN count(*) AS antonyms
