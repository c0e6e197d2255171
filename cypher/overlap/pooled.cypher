// Mark dialogues as pooled: their sentences are in the pool.
// $ids: ids of dialogues
// Columns: dialogues (number of dialogues marked)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
SET d.pooled = true
RETURN count(d) AS dialogues
