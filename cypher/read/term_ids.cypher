// Return a page of terms, sorted by text.
// $after: last text on the previous page; '' for the first page
// $limit: maximum number of terms
// Columns: id (the text)
MATCH (t:Term)
WHERE t.text > $after
RETURN t.text AS id
ORDER BY id
LIMIT $limit
