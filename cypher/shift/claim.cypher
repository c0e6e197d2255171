// Marks the dialogues that are not in the shift graph yet; this transaction writes their replies.
// $ids: ids of dialogues, sorted
// Columns: id
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
WHERE d.shifts IS NULL
SET d.shifts = true
RETURN d.id AS id
