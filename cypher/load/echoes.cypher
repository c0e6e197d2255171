// Write the property "repeats" of graph nodes. It lists where the content of a node was mentioned before, for example
// 'own' for an earlier turn of the same speaker. Remove the property from nodes whose content was not mentioned before.
// $graphs: maps of amr (graph id) and repeats (the new values of the property, keyed by node position as a string)
// Columns: nodes (number of nodes changed)
UNWIND $graphs AS row
MATCH (n:AmrNode {amr: row.amr})
WITH n, row.repeats[toString(n.position)] AS repeats
WHERE n.repeats IS NOT NULL OR repeats IS NOT NULL
SET n.repeats = repeats
RETURN count(n) AS nodes
