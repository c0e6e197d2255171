// Return the nouns in graphs that another dialogue can share, and the roots of sentences that fit into any dialogue.
// The conditions must be the same as in the transform graft.
// $amrs: ids of graphs
// Columns: amr, nodes (lists of k, k of the sentence's root, concept, sort, what can replace the noun: its own concept,
//          or its sort if any noun of this sort can; and whether the node is the root of a sentence that fits into any
//          dialogue)
UNWIND $amrs AS amr
MATCH (n:AmrNode {amr: amr})
WHERE n.topic AND n.sort <> '' OR n.portable
WITH amr, [n.k, n.sentence, n.concept, coalesce(n.sort, ''),
           CASE WHEN n.open_to IS NULL OR NOT n.sort IN n.takes THEN n.concept ELSE n.sort END,
           coalesce(n.portable, false)] AS node, n.k AS k ORDER BY amr, k
RETURN amr, collect(node) AS nodes
