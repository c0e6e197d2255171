// Mark dialogues that are not in the shift graph yet. The same transaction then writes their replies.
// $ids: ids of dialogues, sorted so that concurrent writers lock them in one order
// Columns: id (of each dialogue that was marked now)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
// Another process may have written these replies since the page of dialogues was read.
WHERE d.shifts IS NULL
SET d.shifts = true
RETURN d.id AS id
