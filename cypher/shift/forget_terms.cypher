// Delete some terms that have no relationships any more.
// $limit: maximum number of terms
// Columns: gone (number of terms deleted)
MATCH (t:Term)
WHERE NOT (t)--()
// The number is limited, because deleting all terms in one transaction would need too much memory.
WITH t LIMIT $limit
DETACH DELETE t
RETURN count(*) AS gone
