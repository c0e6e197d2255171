// Removes a part of the terms that nothing is tied to any more. $limit: how many at most
// Columns: gone
MATCH (t:Term)
WHERE NOT (t)--()
WITH t LIMIT $limit
DETACH DELETE t
RETURN count(*) AS gone
