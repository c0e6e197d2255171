// shared_entities: Persons and things that several speakers of a dialogue mention, except for the speakers themselves.
// $corpus (null): name of the only corpus to return rows for; null means all corpora
// $dialogue (null): id of the only dialogue to return rows for; null means all dialogues
// $limit (20): maximum number of rows; the entities with the most mentions come first
// Columns: dialogue, entity (its id), name, kind, mentions (number of nodes that refer to it), speakers (number of
//          speakers who mention it)
MATCH (e:Entity)
WHERE ($dialogue IS NULL OR e.dialogue = $dialogue) AND e.kind <> 'speaker' AND e.kind <> 'speakers'
MATCH (d:Dialogue {id: e.dialogue})
WHERE $corpus IS NULL OR d.corpus = $corpus
MATCH (e)<-[:REFERS_TO]-(n:AmrNode)
MATCH (a:Amr {id: n.amr})<-[:MEANS]-(u:Utterance)
WITH d, e, count(n) AS mentions, count(DISTINCT u.speaker) AS speakers
// Keep entities that several speakers mention: "Anna" in A: "I met Anna." B: "How is Anna?"
WHERE speakers > 1
WITH d.order AS dialogue_order, e.dialogue AS dialogue, e.id AS entity, e.name AS name, e.kind AS kind, mentions,
     speakers
ORDER BY mentions DESC, dialogue_order, entity
LIMIT $limit
RETURN dialogue, entity, name, kind, mentions, speakers
