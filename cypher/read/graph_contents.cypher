// Return the nodes of graphs and their outgoing roles, to compute a digest of the store's content.
// $amrs: ids of graphs
// Columns: nodes. Each node is a list: index of its graph in $amrs, position, subtree_last, concept, value, parent,
//          role, branch, kind of the noun, and its outgoing roles. Each outgoing role is a list: target, role,
//          inverted, branch, reentrant.
UNWIND range(0, size($amrs) - 1) AS i
MATCH (n:AmrNode {amr: $amrs[i]})
RETURN collect([i, n.position, n.subtree_last, n.concept, n.value, n.parent, n.role, n.branch, n.kind,
                [(n)-[r:ROLE]->(m) | [m.position, r.role, r.inverted, r.branch, r.reentrant]]]) AS nodes
