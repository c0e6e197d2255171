// Return a page of the selected dialogues, with the digest of their content and the digests of their graphs. The
// dialogues are sorted by the property "order".
// $after: order of the last dialogue of the previous page; '' for the first page
// $limit: maximum number of dialogues
// $corpora, $splits: lists of names; an empty list means all
// $with_graphs: true to return only dialogues that have an AMR graph
// Columns: id, order, digest (of the dialogue), graphs (digests of the dialogue's graphs, in any order)
MATCH (d:Dialogue)
WHERE d.order > $after
  AND (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
  AND (NOT $with_graphs OR EXISTS { (d)-[:HAS_TURN]->(:Utterance)-[:MEANS]->(:Amr) })
WITH d ORDER BY d.order LIMIT $limit
OPTIONAL MATCH (d)-[:HAS_TURN]->(:Utterance)-[:MEANS]->(a:Amr)
RETURN d.id AS id, d.order AS order, d.digest AS digest, collect(a.digest) AS graphs
ORDER BY order
