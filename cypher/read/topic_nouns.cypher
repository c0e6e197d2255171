// Nouns that graphs speak of, with the sentence that says each, and the tops of sentences that any dialogue can say.
// $amrs: ids of graphs
// Columns: amr, nodes (lists of number, number of its sentence's top, concept, sort, what may stand in its place: its own
// concept or any noun of its sort, and whether it is such a top)
UNWIND $amrs AS amr
MATCH (n:AmrNode {amr: amr})
WHERE n.topic AND n.sort <> '' OR n.portable
WITH amr, [n.k, n.sentence, n.concept, coalesce(n.sort, ''),
           CASE WHEN n.open_to IS NULL OR NOT n.sort IN n.takes THEN n.concept ELSE n.sort END,
           coalesce(n.portable, false)] AS node, n.k AS k ORDER BY amr, k
RETURN amr, collect(node) AS nodes
