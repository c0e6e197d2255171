// A page of dialogues whose replies are not in the shift graph yet, in their order.
// $after: order of the last one of the page before ('' at the start); $limit: how many
// $corpora, $splits: lists of names; an empty list is no condition
// Columns: id, order
MATCH (d:Dialogue)
WHERE d.order > $after
  AND d.shifts IS NULL
  AND (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
RETURN d.id AS id, d.order AS order
ORDER BY order
LIMIT $limit
