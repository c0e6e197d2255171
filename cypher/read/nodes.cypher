// Return the nodes of graphs.
// Each row contains many graphs, because the driver needs more time for a row than for the nodes in it.
// $parts: lists of graph ids; one row is returned for each list
// Columns: part (index in $parts), nodes (a list for each node: index of its graph in the part, then the properties from
//          position to end)
UNWIND range(0, size($parts) - 1) AS i
UNWIND range(0, size($parts[i]) - 1) AS j
// AmrNode.amr is indexed, and subtrees are ranges from position to subtree_last, so that no path needs to be followed.
MATCH (n:AmrNode {amr: $parts[i][j]})
RETURN i AS part, collect([j, n.position, n.subtree_last, n.var, n.concept, n.value, n.parent, n.role, n.branch,
                           n.align, n.role_align, n.start, n.end]) AS nodes
