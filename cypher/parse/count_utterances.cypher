// Count the utterances that a parser must still parse: those that have no graph to keep.
// $corpora, $splits: lists of names; an empty list means all
// $limit: maximum number of dialogues; the server reserves memory for that many, so pass no more than there are
// $any: true to keep every graph
// $kept: sources whose graphs are kept, where $any is false
// Columns: texts
MATCH (d:Dialogue)
WHERE (size($corpora) = 0 OR d.corpus IN $corpora) AND (size($splits) = 0 OR d.split IN $splits)
// ORDER BY needs the sort key in WITH: the embedded server sorts wrongly by a property that is not projected.
WITH d, d.order AS order
ORDER BY order
LIMIT $limit
MATCH (d)-[:HAS_TURN]->(u:Utterance)
WHERE NOT EXISTS { MATCH (u)-[:MEANS]->(a:Amr) WHERE $any OR a.source IN $kept }
RETURN count(u) AS texts
