// Return the corpora and splits in the store.
// Columns: corpus, split, dialogues (number)
MATCH (d:Dialogue)
RETURN d.corpus AS corpus, d.split AS split, count(d) AS dialogues
ORDER BY corpus, split
