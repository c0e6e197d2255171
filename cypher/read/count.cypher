// How many dialogues there are.
// $corpora, $splits: lists of names; an empty list is no condition
// $with_graphs: whether only dialogues with an AMR graph count
// Columns: dialogues
MATCH (d:Dialogue)
WHERE (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
  AND (NOT $with_graphs OR EXISTS { (d)-[:HAS_TURN]->(:Utterance)-[:MEANS]->(:Amr) })
RETURN count(d) AS dialogues
