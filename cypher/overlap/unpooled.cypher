// Return a page of the dialogues whose sentences are not in the sentence pool yet, sorted by the property "order".
// $after: order of the last dialogue of the previous page; '' for the first page
// $limit: maximum number of dialogues
// Columns: id, order
MATCH (d:Dialogue)
WHERE d.order > $after
  // The property "pooled" is missing until the query overlap/pooled marks the dialogue.
  AND d.pooled IS NULL
RETURN d.id AS id, d.order AS order
ORDER BY order
LIMIT $limit
