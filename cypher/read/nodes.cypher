// Return the nodes of graphs.
// Each row contains many graphs, because the driver needs more time for a row than for the nodes in it.
// $parts: lists of graph ids; one row is returned for each list
// Columns: part (index of the list in $parts), nodes. Each node is a list: index of its graph id in this list,
//          position, subtree_last (position of the last node of its subtree), var (its PENMAN variable), concept, value
//          (of a constant), parent (position of the parent), role (below the parent), branch (its index among the
//          children of the parent), align and role_align (alignment marks of the PENMAN text), start and end (the range
//          of its tokens).
UNWIND range(0, size($parts) - 1) AS i
UNWIND range(0, size($parts[i]) - 1) AS j
// The property amr is indexed, so all nodes of a graph are found without following relationships.
MATCH (n:AmrNode {amr: $parts[i][j]})
RETURN i AS part, collect([j, n.position, n.subtree_last, n.var, n.concept, n.value, n.parent, n.role, n.branch,
                           n.align, n.role_align, n.start, n.end]) AS nodes
