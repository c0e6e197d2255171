// similar_foci: Topics that share perspectives (topics to which replies shift) with a given topic.
// $focus: topic with which other topics are compared
// $least (2): minimum number of common perspectives
// $shown (5): maximum number of common perspectives to list
// $limit (20): maximum number of rows; the most similar come first
// Columns: focus (the similar topic), shared (number of common perspectives), jaccard (shared, divided by the number of
//          perspectives that at least one of the two topics has), perspectives (the first common perspectives in
//          alphabetical order)
MATCH (:Term {text: $focus})-[:SHIFTS_TO]->(p:Term)
WITH count(p) AS owned
MATCH (:Term {text: $focus})-[:SHIFTS_TO]->(:Term)<-[:SHIFTS_TO]-(g:Term)
WITH owned, g.text AS focus, count(*) AS shared
WHERE shared >= $least
  // Leave out $focus itself: a topic shares all perspectives with itself.
  AND focus <> $focus
MATCH (g:Term {text: focus})
// The number of perspectives that at least one of the two topics has: |A or B| = |A| + |B| - |A and B|.
WITH g, focus, shared, owned + COUNT { MATCH (g)-[:SHIFTS_TO]->(:Term) } - shared AS either
WITH g, focus, shared, round(1.0 * shared / either, 3) AS jaccard
ORDER BY jaccard DESC, shared DESC, focus
LIMIT $limit
MATCH (:Term {text: $focus})-[:SHIFTS_TO]->(p:Term)<-[:SHIFTS_TO]-(g)
WITH focus, shared, jaccard, p.text AS perspective
ORDER BY perspective
WITH focus, shared, jaccard, collect(perspective) AS common
ORDER BY jaccard DESC, shared DESC, focus
RETURN focus, shared, jaccard, common[..$shown] AS perspectives
