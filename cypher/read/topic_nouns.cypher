// Return the nouns in graphs that another dialogue can share, and the roots of sentences that fit into any dialogue.
// The conditions must be the same as in the transform topical_statement.
// $amrs: ids of graphs
// Columns: amr, nodes (lists of position, position of the sentence's root, concept, noun class, what can replace the
//          noun: its own concept, or its noun class if any noun of the class can; and whether the node is the root of a
//          sentence that fits into any dialogue)
UNWIND $amrs AS amr
MATCH (n:AmrNode {amr: amr})
WHERE n.topical AND n.noun_class <> '' OR n.context_free
WITH amr, [n.position, n.sentence_top, n.concept, coalesce(n.noun_class, ''),
           CASE WHEN n.substitutable_kind IS NULL OR NOT n.noun_class IN n.selectional_preferences THEN n.concept ELSE n.noun_class END,
           coalesce(n.context_free, false)] AS node, n.position AS position ORDER BY amr, position
RETURN amr, collect(node) AS nodes
