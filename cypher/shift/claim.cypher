// Mark dialogues as part of the shift graph if they are not marked yet. The caller adds their replies to the shift graph in
// the same transaction.
// $ids: ids of dialogues. They are sorted, so that concurrent transactions lock dialogues in the same order.
// Columns: id (of each dialogue that was newly marked)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
// Another process may have written these dialogues after their ids were read. Their marks show it.
WHERE d.shifts IS NULL
SET d.shifts = true
RETURN d.id AS id
