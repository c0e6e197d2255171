// Return dialogues with all their properties.
// $ids: ids of dialogues
// Columns: id, properties
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})
RETURN id, properties(d) AS properties
