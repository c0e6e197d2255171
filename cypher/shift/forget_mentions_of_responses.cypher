// Delete some of the keywords of responses.
// $limit: maximum number of keywords
// Columns: gone (number deleted)
MATCH (:Response)-[r:MENTIONS]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
