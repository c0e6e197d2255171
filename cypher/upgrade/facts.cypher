// Write the facts about graphs and their nodes. A fact that is null is removed.
// $graphs: maps of amr (graph id), foreign, and facts (properties of the nodes, in the order of k)
// Columns: nodes (number changed)
UNWIND $graphs AS row
MATCH (a:Amr {id: row.amr})
SET a.foreign = row.foreign
WITH row
MATCH (n:AmrNode {amr: row.amr})
WITH n, row.facts[n.k] AS facts
SET n += facts
RETURN count(n) AS nodes
