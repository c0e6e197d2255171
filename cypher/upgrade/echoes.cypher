// Writes which nodes of graphs say what was said before; of the others, that they do not.
// $graphs: {amr: id of a graph, echo: by the number of a node, as text, who said it}
// Columns: nodes
UNWIND $graphs AS row
MATCH (n:AmrNode {amr: row.amr})
WITH n, row.echo[toString(n.k)] AS echo
WHERE n.echo IS NOT NULL OR echo IS NOT NULL
SET n.echo = echo
RETURN count(n) AS nodes
