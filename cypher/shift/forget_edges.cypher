// Removes a part of the shift graph's edges. $limit: how many at most
// Columns: gone
MATCH (:Term)-[r:SHIFTS_TO]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
