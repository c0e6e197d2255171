// Mark dialogues as part of the shift graph, if they are not marked yet. In the same transaction, the caller adds the
// replies of these dialogues to the shift graph.
// $ids: ids of dialogues. They are sorted, so that concurrent transactions lock dialogues in the same order.
// Columns: id (of each dialogue that was newly marked)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
// Skip dialogues that are already marked: another process may have added them to the shift graph after the caller
// read their ids.
WHERE d.shifts IS NULL
SET d.shifts = true
RETURN d.id AS id
