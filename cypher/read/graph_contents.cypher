// Return the nodes of graphs, their words and their outgoing roles, to compute a digest of the store's content.
// All properties are returned, because a transform of the user can read any of them, such as "tense".
// $amrs: ids of graphs
// Columns: nodes. Each node is a list: index of its graph in $amrs, properties, its words, and its outgoing roles. Each
//          outgoing role is a list: target, role, inverted, branch, reentrant.
UNWIND range(0, size($amrs) - 1) AS i
MATCH (n:AmrNode {amr: $amrs[i]})
RETURN collect([i, properties(n),
                [(n)-[:LEXEME]->(w:Term) | w.text],
                [(n)-[r:ROLE]->(m) | [m.position, r.role, r.inverted, r.branch, r.reentrant]]]) AS nodes
