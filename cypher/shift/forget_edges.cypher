// Delete some edges of the shift graph, and some relationships from replies to their focus or perspective.
// $limit: maximum number of relationships to delete
// Columns: gone (number of relationships deleted)
MATCH ()-[r:SHIFTS_TO|FOCUS|PERSPECTIVE]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
