// Return the nouns of graphs that can be shared with another dialogue, and the tops of sentences that fit any dialogue.
// The transform graft uses the same conditions.
// $amrs: ids of graphs
// Columns: amr, nodes (lists of k, k of the sentence's top, concept, sort, what can replace the noun (its own concept, or its
//          sort for any noun of that sort), whether the node is the top of a sentence that fits any dialogue)
UNWIND $amrs AS amr
MATCH (n:AmrNode {amr: amr})
WHERE n.topic AND n.sort <> '' OR n.portable
WITH amr, [n.k, n.sentence, n.concept, coalesce(n.sort, ''),
           CASE WHEN n.open_to IS NULL OR NOT n.sort IN n.takes THEN n.concept ELSE n.sort END,
           coalesce(n.portable, false)] AS node, n.k AS k ORDER BY amr, k
RETURN amr, collect(node) AS nodes
