// Removes a part of the keywords of responses. $limit: how many at most
// Columns: gone
MATCH (:Response)-[r:MENTIONS]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
