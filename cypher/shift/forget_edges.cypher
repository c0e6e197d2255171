// Delete some of the shift graph's edges, with those that link replies to it.
// $limit: maximum number of edges
// Columns: gone (number deleted)
MATCH ()-[r:SHIFTS_TO|FOCUS|PERSPECTIVE]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
