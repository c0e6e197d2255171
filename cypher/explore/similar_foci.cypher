// similar_foci: Topics that replies move on from as they do from this one: perspectives in common.
// $focus: the topic to compare with
// $least (2): only topics with so many perspectives in common
// $shown (5): perspectives in common that are listed
// $limit (20): rows at most
// Columns: focus, shared (perspectives in common), jaccard (shared by all that either has), perspectives (those in
//          common, as many as are listed)
MATCH (:Term {text: $focus})-[:SHIFTS_TO]->(p:Term)
WITH count(p) AS owned
MATCH (:Term {text: $focus})-[:SHIFTS_TO]->(:Term)<-[:SHIFTS_TO]-(g:Term)
WITH owned, g.text AS focus, count(*) AS shared
WHERE shared >= $least AND focus <> $focus
MATCH (g:Term {text: focus})
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
