// Return which of the given dialogues are in the store.
// $ids: ids of dialogues
// Columns: id, digest (of the dialogue's content)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
RETURN d.id AS id, d.digest AS digest
