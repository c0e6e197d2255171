// Count the responses that must still be parsed: those without a graph, and those whose graphs are to be replaced.
// $corpora, $splits: lists of names; an empty list means all
// $limit: maximum number of dialogues. The server reserves memory for this number, so it should not exceed the number
//   of dialogues in the store.
// $any: true if no existing graph is to be replaced
// $kept: names of sources of graphs, such as penman. If $any is false, graphs from other sources are to be replaced.
// Columns: texts (number of responses)
MATCH (d:Dialogue)
WHERE (size($corpora) = 0 OR d.corpus IN $corpora) AND (size($splits) = 0 OR d.split IN $splits)
// The embedded server sorts incorrectly by a property that is not projected, so WITH must contain the sort key.
WITH d, d.order AS order
ORDER BY order
LIMIT $limit
MATCH (d)-[:HAS_TURN]->(:Utterance)-[:HAS_RESPONSE]->(r:Response)
WHERE NOT EXISTS { MATCH (r)-[:MEANS]->(a:Amr) WHERE $any OR a.source IN $kept }
RETURN count(r) AS texts
