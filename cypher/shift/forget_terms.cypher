// Delete some of the terms that have no relationships any more.
// $limit: maximum number of terms
// Columns: gone (number deleted)
MATCH (t:Term)
WHERE NOT (t)--()
// In parts, because one transaction that deletes everything would need too much memory.
WITH t LIMIT $limit
DETACH DELETE t
RETURN count(*) AS gone
