// Count the selected dialogues.
// $corpora, $splits: lists of names; an empty list means all
// $with_graphs: true to count only dialogues that have an AMR graph
// Columns: dialogues
MATCH (d:Dialogue)
WHERE (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
  AND (NOT $with_graphs OR EXISTS { (d)-[:HAS_TURN]->(:Utterance)-[:MEANS]->(:Amr) })
RETURN count(d) AS dialogues
