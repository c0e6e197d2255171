// Write for each node whether it repeats something that was said before, and remove the property from the other nodes.
// $graphs: maps of amr (graph id) and echo (who said it before, by node number as a text)
// Columns: nodes (number of nodes changed)
UNWIND $graphs AS row
MATCH (n:AmrNode {amr: row.amr})
WITH n, row.echo[toString(n.k)] AS echo
WHERE n.echo IS NOT NULL OR echo IS NOT NULL
SET n.echo = echo
RETURN count(n) AS nodes
