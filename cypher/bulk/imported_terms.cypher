// In the list properties of terms, and of their frames, opposites and antonyms, replace each placeholder for an empty
// list by an empty list. The files of a bulk import contain such placeholders, because they cannot represent empty
// lists.
// $ids: texts of terms
// $empty: the placeholder
// Columns: terms (number of terms found)
UNWIND $ids AS id
MATCH (t:Term {text: id})
SET t.classes = CASE WHEN t.classes = $empty THEN [] ELSE t.classes END
WITH t
OPTIONAL MATCH (f:Frame)-[:LEXEME]->(t)
SET f.classes = CASE WHEN f.classes = $empty THEN [] ELSE f.classes END,
  f.roles = CASE WHEN f.roles = $empty THEN [] ELSE f.roles END
WITH DISTINCT t
OPTIONAL MATCH (t)-[o:OPPOSITE|ANTONYM]->()
SET o.modified_kinds = CASE WHEN o.modified_kinds = $empty THEN [] ELSE o.modified_kinds END,
  o.known = CASE WHEN o.known = $empty THEN [] ELSE o.known END
RETURN count(DISTINCT t) AS terms
