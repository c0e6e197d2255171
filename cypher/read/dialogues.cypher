// Return a page of the selected dialogues, sorted by the property "order".
// $after: order of the last dialogue of the previous page; '' for the first page
// $limit: maximum number of dialogues
// $corpora, $splits: lists of names; an empty list means all
// $with_graphs: true to return only dialogues that have an AMR graph
// Columns: id, order
MATCH (d:Dialogue)
WHERE d.order > $after
  AND (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
  AND (NOT $with_graphs OR EXISTS { (d)-[:HAS_TURN]->(:Utterance)-[:MEANS]->(:Amr) })
RETURN d.id AS id, d.order AS order
ORDER BY order
LIMIT $limit
