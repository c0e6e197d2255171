// The nodes of graphs, as lists in the order of AmrNode's fields, then the token span.
// $amrs: ids of graphs
// Columns: amr, nodes
UNWIND $amrs AS amr
MATCH (n:AmrNode {amr: amr})
RETURN amr, collect([n.k, n.last, n.var, n.concept, n.value, n.up, n.role, n.pos,
                     n.align, n.role_align, n.start, n.end]) AS nodes
