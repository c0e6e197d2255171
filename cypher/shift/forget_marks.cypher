// Remove the mark for dialogues in the shift graph from some dialogues.
// $limit: maximum number of dialogues
// Columns: gone (number of marks removed)
MATCH (d:Dialogue)
WHERE d.shifts IS NOT NULL
WITH d LIMIT $limit
REMOVE d.shifts
RETURN count(*) AS gone
