// Mark all dialogues, because a snapshot brings the sentences of the whole corpus into the pool.
// Columns: dialogues (number marked)
MATCH (d:Dialogue)
WHERE d.pooled IS NULL
SET d.pooled = true
RETURN count(d) AS dialogues
