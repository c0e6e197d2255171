// Write the property repeats, which lists where the content of a node was mentioned before, such as 'own' for an earlier
// turn of the same speaker. Nodes whose content was not mentioned before lose the property.
// $graphs: maps of amr (graph id) and repeats (a map from the position of a node, as a string, to the new value)
// Columns: nodes (number of nodes changed)
UNWIND $graphs AS row
MATCH (n:AmrNode {amr: row.amr})
WITH n, row.repeats[toString(n.position)] AS repeats
WHERE n.repeats IS NOT NULL OR repeats IS NOT NULL
SET n.repeats = repeats
RETURN count(n) AS nodes
