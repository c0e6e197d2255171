// Delete the entities of dialogues, so that they can be computed again.
// $ids: ids of dialogues
// Columns: entities (number of entities deleted)
UNWIND $ids AS id
MATCH (e:Entity {dialogue: id})
DETACH DELETE e
RETURN count(*) AS entities
