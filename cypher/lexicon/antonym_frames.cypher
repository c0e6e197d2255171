// Link words to PropBank frames that are their antonyms, when the word is used as a verb: "love" is linked to hate-01.
// $antonyms: maps of word (text of a term), replacement (id of the frame that is an antonym of the word), modified_kinds
//   (kinds of things for which the word and the frame are antonyms, or null for all), known (ids of the frames of the word that
//   were loaded from PropBank) and used_as (id of the frame of the word that the antonym can replace, or 'frame' for all
//   frames of the word that are not in known)
// Columns: antonyms (number of ANTONYM relationships written)
UNWIND $antonyms AS row
MATCH (w:Term {text: row.word})
MATCH (x:Frame {id: row.replacement})
SET w.antonyms = true
CREATE (w)-[:ANTONYM {used_as: row.used_as, modified_kinds: row.modified_kinds, known: row.known}]->(x)
RETURN count(*) AS antonyms
