// Mark dialogues as pooled, which means that their sentences are in the sentence pool.
// $ids: ids of dialogues
// Columns: dialogues (number of dialogues marked)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
SET d.pooled = true
RETURN count(d) AS dialogues
