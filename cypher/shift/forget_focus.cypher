// Removes a part of the focus edges of replies. $limit: how many at most
// Columns: gone
MATCH ()-[r:FOCUS]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
