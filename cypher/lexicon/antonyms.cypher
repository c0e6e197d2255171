// Link words to words that are their antonyms: "old" is linked to "young".
// $antonyms: maps of word (text of a term), used_as ('noun' or 'modifier'), replacement (text of the antonym), modified_kinds
//   (kinds of things for which the two words are antonyms, or null for all)
// Columns: antonyms (number of ANTONYM relationships written)
UNWIND $antonyms AS row
MATCH (w:Term {text: row.word})
MATCH (x:Term {text: row.replacement})
SET w.antonyms = true
CREATE (w)-[:ANTONYM {used_as: row.used_as, modified_kinds: row.modified_kinds}]->(x)
RETURN count(*) AS antonyms
