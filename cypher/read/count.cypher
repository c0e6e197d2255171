// How many dialogues there are.
// $corpora, $splits: lists of names; an empty list is no condition
// Columns: dialogues
MATCH (d:Dialogue)
WHERE (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
RETURN count(d) AS dialogues
