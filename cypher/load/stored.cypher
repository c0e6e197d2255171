// Return those of the given dialogues that are in the store.
// $ids: ids of dialogues
// Columns: id, digest (of the content)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
RETURN d.id AS id, d.digest AS digest
