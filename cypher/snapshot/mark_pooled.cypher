// Mark all dialogues as pooled, that is, as having their sentences in the sentence pool. A snapshot contains the
// sentences of the whole corpus, so the dialogues need not be pooled again.
// Columns: dialogues (number of dialogues newly marked)
MATCH (d:Dialogue)
WHERE d.pooled IS NULL
SET d.pooled = true
RETURN count(d) AS dialogues
