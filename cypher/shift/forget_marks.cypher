// Remove from some dialogues the mark which says that they are part of the shift graph.
// $limit: maximum number of dialogues
// Columns: gone (number of marks removed)
MATCH (d:Dialogue)
WHERE d.shifts IS NOT NULL
WITH d LIMIT $limit
REMOVE d.shifts
RETURN count(*) AS gone
