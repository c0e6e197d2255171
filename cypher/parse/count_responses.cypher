// How many responses have none of the graphs that are kept.
// $corpora, $splits: lists of names; an empty list is no condition; $limit: how many
// dialogues at most; the server sets memory aside for as many, so it is no more than there are
// $any: whether every graph is kept; $kept: else the sources whose graphs are
// Columns: texts
MATCH (d:Dialogue)
WHERE (size($corpora) = 0 OR d.corpus IN $corpora) AND (size($splits) = 0 OR d.split IN $splits)
WITH d, d.order AS order
ORDER BY order
LIMIT $limit
MATCH (d)-[:HAS_TURN]->(:Utterance)-[:HAS_RESPONSE]->(r:Response)
WHERE NOT EXISTS { MATCH (r)-[:MEANS]->(a:Amr) WHERE $any OR a.source IN $kept }
RETURN count(r) AS texts
