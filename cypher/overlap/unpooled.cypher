// Return a page of the dialogues whose sentences are not in the pool yet, in their order.
// $after: order of the last dialogue of the page before; '' for the first page
// $limit: maximum number of dialogues
// Columns: id, order
MATCH (d:Dialogue)
WHERE d.order > $after AND d.pooled IS NULL
RETURN d.id AS id, d.order AS order
ORDER BY order
LIMIT $limit
