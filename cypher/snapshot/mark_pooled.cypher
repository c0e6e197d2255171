// Mark all dialogues as pooled, because a snapshot contains the sentences of the whole corpus.
// Columns: dialogues (number of dialogues newly marked)
MATCH (d:Dialogue)
WHERE d.pooled IS NULL
SET d.pooled = true
RETURN count(d) AS dialogues
