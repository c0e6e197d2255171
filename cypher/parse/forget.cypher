// Delete graphs and their nodes.
// $amrs: ids of graphs
// Columns: nodes (number of nodes deleted)
UNWIND $amrs AS amr
MATCH (a:Amr {id: amr})
MATCH (n:AmrNode {amr: amr})
DETACH DELETE n, a
RETURN count(*) AS nodes
