// Return the corpora and splits that are in the store, with the number of dialogues of each.
// Columns: corpus, split, dialogues (number of dialogues)
MATCH (d:Dialogue)
RETURN d.corpus AS corpus, d.split AS split, count(d) AS dialogues
ORDER BY corpus, split
