// Return the reentrancies of graphs: ROLE relationships to a node that the PENMAN text introduces in another branch.
// $parts: a list of lists of graph ids
// Columns: part: index of a list in $parts that contains a graph with reentrancies
//          mentions: the reentrancies of the graphs in this list. Each of them is a list of values: index of the graph
//            in the list, position of the source node, position of the target node, role, inverted (whether the PENMAN
//            text writes the role with -of), branch (its index among the children of the source node), align and
//            role_align (alignment marks of the PENMAN text).
UNWIND range(0, size($parts) - 1) AS i
UNWIND range(0, size($parts[i]) - 1) AS j
MATCH (n:AmrNode {amr: $parts[i][j]})-[r:ROLE]->(m:AmrNode)
WHERE r.reentrant
RETURN i AS part, collect([j, n.position, m.position, r.role, r.inverted, r.branch, r.align, r.role_align]) AS mentions
