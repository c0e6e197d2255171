// Removes a part of the perspective edges of replies. $limit: how many at most
// Columns: gone
MATCH ()-[r:PERSPECTIVE]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
