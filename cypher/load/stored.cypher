// Which of these dialogues are in the store already, and with what content.
// $ids: ids of dialogues
// Columns: id, digest
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
RETURN d.id AS id, d.digest AS digest
