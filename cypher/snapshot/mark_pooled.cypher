// Marks all dialogues: their sentences are in the pool.
// Columns: dialogues
MATCH (d:Dialogue)
WHERE d.pooled IS NULL
SET d.pooled = true
RETURN count(d) AS dialogues
