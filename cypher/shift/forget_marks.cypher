// Remove the property "shifts" from up to $limit dialogues. The property marks a dialogue whose replies are
// in the shift graph.
// $limit: maximum number of dialogues
// Columns: gone (number of dialogues changed)
MATCH (d:Dialogue)
WHERE d.shifts IS NOT NULL
WITH d LIMIT $limit
REMOVE d.shifts
RETURN count(*) AS gone
