// Takes the mark from a part of the dialogues that were in the shift graph. $limit: how many at most
// Columns: gone
MATCH (d:Dialogue)
WHERE d.shifts IS NOT NULL
WITH d LIMIT $limit
REMOVE d.shifts
RETURN count(*) AS gone
