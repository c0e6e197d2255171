// Write the computed properties of graphs and their nodes. A property is removed if its new value is null.
// $graphs: maps with the keys amr (graph id), foreign (true if the text is not in English, else null) and
//   facts (a list with a map of properties for each node, in the order of the nodes' positions)
// Columns: nodes (number of nodes changed)
UNWIND $graphs AS row
MATCH (a:Amr {id: row.amr})
SET a.foreign = row.foreign
WITH row
MATCH (n:AmrNode {amr: row.amr})
WITH n, row.facts[n.position] AS facts
SET n += facts
RETURN count(n) AS nodes
