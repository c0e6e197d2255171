// Writes facts about the nodes of graphs; a fact that is null is removed.
// $graphs: {amr: id of a graph, facts: properties of its nodes, in their order}
// Columns: nodes
UNWIND $graphs AS row
MATCH (n:AmrNode {amr: row.amr})
WITH n, row.facts[n.k] AS facts
SET n += facts
RETURN count(n) AS nodes
