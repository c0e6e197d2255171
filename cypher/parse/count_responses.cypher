// Count the responses that must still be parsed, that is, responses without a graph that counts as done.
// $corpora, $splits: lists of names; an empty list means all
// $limit: maximum number of dialogues. The server reserves memory for this number, so it should not exceed the number
//   of dialogues in the store.
// $any: true if every existing graph counts as done
// $kept: sources of graphs. If $any is false, only graphs from these sources count as done.
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
