// Mark dialogues whose sentences are in the pool.
// $ids: ids of dialogues
// Columns: dialogues (number marked)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
SET d.pooled = true
RETURN count(d) AS dialogues
