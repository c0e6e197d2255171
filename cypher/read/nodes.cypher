// Return the nodes of graphs.
// One record holds many graphs, because a record costs the driver more time than the nodes in it.
// $parts: lists of ids of graphs; one record is returned for each list
// Columns: part (index in $parts), nodes (lists of index of the graph in its part, the fields of AmrNode, start, end)
UNWIND range(0, size($parts) - 1) AS i
UNWIND range(0, size($parts[i]) - 1) AS j
// AmrNode.amr is indexed, and k and last make a subtree a range: no path is followed.
MATCH (n:AmrNode {amr: $parts[i][j]})
RETURN i AS part, collect([j, n.k, n.last, n.var, n.concept, n.value, n.up, n.role, n.pos,
                           n.align, n.role_align, n.start, n.end]) AS nodes
