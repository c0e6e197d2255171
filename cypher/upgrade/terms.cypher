// Return a page of terms, in the order of their texts.
// $after: last text of the page before
// $limit: maximum number of terms
// Columns: id (the text)
MATCH (t:Term)
WHERE t.text > $after
RETURN t.text AS id
ORDER BY id
LIMIT $limit
