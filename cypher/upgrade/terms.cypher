// A page of terms, by their texts. $after: the last text of the page before; $limit: how many
// Columns: id
MATCH (t:Term)
WHERE t.text > $after
RETURN t.text AS id
ORDER BY id
LIMIT $limit
