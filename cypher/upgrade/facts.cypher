// Writes facts about graphs and their nodes; a fact that is null is removed.
// $graphs: {amr: id of a graph, foreign, facts: properties of its nodes, in their order}
// Columns: nodes
UNWIND $graphs AS row
MATCH (a:Amr {id: row.amr})
SET a.foreign = row.foreign
WITH row
MATCH (n:AmrNode {amr: row.amr})
WITH n, row.facts[n.k] AS facts
SET n += facts
RETURN count(n) AS nodes
