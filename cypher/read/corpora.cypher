// Return the corpora and splits in the store, each with its number of dialogues.
// Columns: corpus, split, dialogues (number of dialogues)
MATCH (d:Dialogue)
RETURN d.corpus AS corpus, d.split AS split, count(d) AS dialogues
ORDER BY corpus, split
