// Lock dialogues until the end of the transaction, so that no other transaction computes their clauses at the same
// time.
// Setting a property to its own value changes nothing, but takes the lock.
// $ids: ids of dialogues, sorted, so that concurrent transactions lock them in the same order
// Columns: dialogues (number of dialogues locked)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
SET d.order = d.order
RETURN count(*) AS dialogues
