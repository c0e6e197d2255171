// Count the utterances that a parser must still parse, because they have no graph that is kept.
// $corpora, $splits: lists of names; an empty list means all
// $limit: maximum number of dialogues; the server reserves memory for this number, so do not pass more than there are
// $any: true to keep all existing graphs
// $kept: sources of the graphs that are kept if $any is false
// Columns: texts (number of utterances)
MATCH (d:Dialogue)
WHERE (size($corpora) = 0 OR d.corpus IN $corpora) AND (size($splits) = 0 OR d.split IN $splits)
// The sort key must be in WITH, because the embedded server sorts wrongly by a property that is not projected.
WITH d, d.order AS order
ORDER BY order
LIMIT $limit
MATCH (d)-[:HAS_TURN]->(u:Utterance)
WHERE NOT EXISTS { MATCH (u)-[:MEANS]->(a:Amr) WHERE $any OR a.source IN $kept }
RETURN count(u) AS texts
