// entity: The mentions of a person or thing in a dialogue, in the order of the turns.
// $dialogue: id of the dialogue
// $entity: name of the entity: a proper name, a noun, or the name of a speaker
// Columns: id (of the entity), turn, speaker, word (concept of the node that refers to the entity), text
MATCH (e:Entity {dialogue: $dialogue})
WHERE e.name = $entity
MATCH (e)<-[:REFERS_TO]-(n:AmrNode)
MATCH (a:Amr {id: n.amr})<-[:MEANS]-(u:Utterance)
WITH e.id AS id, u.turn AS turn, u.speaker AS speaker, n.concept AS word, u.text AS text, n.position AS position
ORDER BY id, turn, position
RETURN id, turn, speaker, word, text
