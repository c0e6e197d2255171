// A page of dialogues, in their order.
// $after: order of the last one of the page before ('' at the start); $limit: how many
// $corpora, $splits: lists of names; an empty list is no condition
// $with_graphs: whether only dialogues with an AMR graph count
// Columns: id, order
MATCH (d:Dialogue)
WHERE d.order > $after
  AND (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
  AND (NOT $with_graphs OR EXISTS { (d)-[:HAS_TURN]->(:Utterance)-[:MEANS]->(:Amr) })
RETURN d.id AS id, d.order AS order
ORDER BY order
LIMIT $limit
