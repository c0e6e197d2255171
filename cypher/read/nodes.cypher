// The nodes of graphs, as lists: the place of the graph, the fields of AmrNode, the token span.
// Many graphs come in one record, since a record costs the driver more than the nodes in it.
// $parts: lists of ids of graphs
// Columns: part (place in $parts), nodes
UNWIND range(0, size($parts) - 1) AS i
UNWIND range(0, size($parts[i]) - 1) AS j
MATCH (n:AmrNode {amr: $parts[i][j]})
RETURN i AS part, collect([j, n.k, n.last, n.var, n.concept, n.value, n.up, n.role, n.pos,
                           n.align, n.role_align, n.start, n.end]) AS nodes
