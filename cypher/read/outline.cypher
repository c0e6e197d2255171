// A page of dialogues, in their order, with digests of what they say and of their graphs.
// $after: order of the last one of the page before ('' at the start); $limit: how many
// $corpora, $splits: lists of names; an empty list is no condition
// $with_graphs: whether only dialogues with an AMR graph count
// Columns: id, order, digest, graphs (digests, in no order)
MATCH (d:Dialogue)
WHERE d.order > $after
  AND (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
  AND (NOT $with_graphs OR EXISTS { (d)-[:HAS_TURN]->(:Utterance)-[:MEANS]->(:Amr) })
WITH d ORDER BY d.order LIMIT $limit
OPTIONAL MATCH (d)-[:HAS_TURN]->(:Utterance)-[:MEANS]->(a:Amr)
RETURN d.id AS id, d.order AS order, d.digest AS digest, collect(a.digest) AS graphs
ORDER BY order
