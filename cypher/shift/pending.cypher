// Return a page of the dialogues whose replies are not in the shift graph yet, sorted by their property "order".
// $after: property "order" of the last dialogue of the previous page; '' for the first page
// $limit: maximum number of dialogues
// $corpora, $splits: lists of names; an empty list means all
// Columns: id, order
MATCH (d:Dialogue)
WHERE d.order > $after
  // The replies of the dialogue are not in the shift graph yet. The query shift/claim marks dialogues in the graph.
  AND d.shifts IS NULL
  AND (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
RETURN d.id AS id, d.order AS order
ORDER BY order
LIMIT $limit
