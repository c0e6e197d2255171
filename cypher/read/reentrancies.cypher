// The reentrancies of graphs: roles whose target the text names again.
// $amrs: ids of graphs
// Columns: amr, mentions (lists of start, end, role, inverted, pos, align, role_align)
UNWIND $amrs AS amr
MATCH (n:AmrNode {amr: amr})-[r:ROLE]->(m:AmrNode)
WHERE r.reentrant
RETURN amr, collect([n.k, m.k, r.role, r.inverted, r.pos, r.align, r.role_align]) AS mentions
