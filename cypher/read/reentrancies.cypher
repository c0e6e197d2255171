// The reentrancies of graphs: roles whose target the text names again.
// $parts: lists of ids of graphs
// Columns: part (place in $parts),
//          mentions (lists: place of the graph, start, end, role, inverted, pos, align, role_align)
UNWIND range(0, size($parts) - 1) AS i
UNWIND range(0, size($parts[i]) - 1) AS j
MATCH (n:AmrNode {amr: $parts[i][j]})-[r:ROLE]->(m:AmrNode)
WHERE r.reentrant
RETURN i AS part, collect([j, n.k, m.k, r.role, r.inverted, r.pos, r.align, r.role_align]) AS mentions
