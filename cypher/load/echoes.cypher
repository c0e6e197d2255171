// Write for each node whether it repeats something that was said before, and remove the property from the other nodes.
// $graphs: maps of amr (graph id) and repeats (who said it before, by node number as a text)
// Columns: nodes (number of nodes changed)
UNWIND $graphs AS row
MATCH (n:AmrNode {amr: row.amr})
WITH n, row.repeats[toString(n.position)] AS repeats
WHERE n.repeats IS NOT NULL OR repeats IS NOT NULL
SET n.repeats = repeats
RETURN count(n) AS nodes
