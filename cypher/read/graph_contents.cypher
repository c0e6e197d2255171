// Return the nodes of graphs and their outgoing roles, to compute a digest of the store's content.
// $amrs: ids of graphs
// Columns: nodes (lists of index of the graph, k, last k of the subtree, concept, value, parent, role, position, kind of
//          the noun, roles; each role is a list of target, role, inverted, position, reentrant)
UNWIND range(0, size($amrs) - 1) AS i
MATCH (n:AmrNode {amr: $amrs[i]})
RETURN collect([i, n.k, n.last, n.concept, n.value, n.up, n.role, n.pos, n.kind,
                [(n)-[r:ROLE]->(m) | [m.k, r.role, r.inverted, r.pos, r.reentrant]]]) AS nodes
