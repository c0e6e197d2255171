// Delete up to $limit links (MENTIONS) from responses to their keywords.
// $limit: maximum number of links
// Columns: gone (number of links deleted)
MATCH (:Response)-[r:MENTIONS]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
