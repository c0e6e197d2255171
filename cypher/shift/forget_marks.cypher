// Remove the property shifts from some dialogues. It marks the dialogues whose replies are in the shift graph.
// $limit: maximum number of dialogues
// Columns: gone (number of dialogues changed)
MATCH (d:Dialogue)
WHERE d.shifts IS NOT NULL
WITH d LIMIT $limit
REMOVE d.shifts
RETURN count(*) AS gone
