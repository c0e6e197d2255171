// Count the dialogues whose sentences are not in the sentence pool yet.
// Columns: dialogues
MATCH (d:Dialogue)
WHERE d.pooled IS NULL
RETURN count(d) AS dialogues
