// Dialogues whose sentences are not in the pool yet: a page of them, in their order.
// $after: order of the last one of the page before ('' at the start); $limit: how many
// Columns: id, order
MATCH (d:Dialogue)
WHERE d.order > $after AND d.pooled IS NULL
RETURN d.id AS id, d.order AS order
ORDER BY order
LIMIT $limit
