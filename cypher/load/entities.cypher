// Write the entities of dialogues, and link each graph node that mentions an entity to it. The graphs must already be
// in the store.
// $entities: maps of the properties of an Entity
// $graphs: maps of amr (graph id) and entities (a map from the position of a node, as a string, to the index of its
//   entity in $entities)
// Columns: mentions (number of nodes linked)
UNWIND $entities AS row
CREATE (e:Entity {
  id: row.id, dialogue: row.dialogue, kind: row.kind, name: row.name, gender: row.gender, number: row.number})
WITH collect(e) AS es
UNWIND $graphs AS row
MATCH (n:AmrNode {amr: row.amr})
WITH es, n, row.entities[toString(n.position)] AS entity
WHERE entity IS NOT NULL
WITH n, es[entity] AS e
CREATE (n)-[:REFERS_TO]->(e)
RETURN count(*) AS mentions
