// The nodes of graphs with the roles that lead from them, as lists that are compared with those of another time.
// $amrs: ids of graphs
// Columns: nodes (lists of place of the graph, k, subtree's last, concept, value, parent, role, place, class of the noun,
//          roles: lists of target, role, inverted, place, reentrant)
UNWIND range(0, size($amrs) - 1) AS i
MATCH (n:AmrNode {amr: $amrs[i]})
RETURN collect([i, n.k, n.last, n.concept, n.value, n.up, n.role, n.pos, n.kind,
                [(n)-[r:ROLE]->(m) | [m.k, r.role, r.inverted, r.pos, r.reentrant]]]) AS nodes
