// Removes a part of the shift graph's edges, and of the edges that tie replies to it.
// $limit: how many at most
// Columns: gone
MATCH ()-[r:SHIFTS_TO|FOCUS|PERSPECTIVE]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
