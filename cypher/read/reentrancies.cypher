// Return the reentrancies of graphs: ROLE relationships to a node that the PENMAN text introduces in another branch.
// $parts: lists of graph ids; one row is returned for each list with reentrancies
// Columns: part (index of the list in $parts), mentions. Each reentrancy is a list: index of its graph id in this list,
//          positions of the source node and of the target node, role, inverted, branch, align, role_align.
UNWIND range(0, size($parts) - 1) AS i
UNWIND range(0, size($parts[i]) - 1) AS j
MATCH (n:AmrNode {amr: $parts[i][j]})-[r:ROLE]->(m:AmrNode)
WHERE r.reentrant
RETURN i AS part, collect([j, n.position, m.position, r.role, r.inverted, r.branch, r.align, r.role_align]) AS mentions
