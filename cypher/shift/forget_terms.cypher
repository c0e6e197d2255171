// Delete a limited number of terms (words and phrases) that no longer have any relationships.
// $limit: maximum number of terms
// Columns: gone (number of terms deleted)
MATCH (t:Term)
WHERE NOT (t)--()
// Delete at most $limit terms, because a transaction that deletes all terms would need too much memory.
WITH t LIMIT $limit
DETACH DELETE t
RETURN count(*) AS gone
