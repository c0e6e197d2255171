// Check whether there is a reply: return one reply that follows an utterance, and one correct response, if they exist.
// $corpora, $splits: lists of names; an empty list means all
// Columns: id
MATCH (d:Dialogue)-[:HAS_TURN]->(:Utterance)-[:NEXT]->(u:Utterance)
WHERE (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
RETURN u.id AS id
LIMIT 1
UNION ALL
MATCH (d:Dialogue)-[:HAS_TURN]->(:Utterance)-[:HAS_RESPONSE]->(r:Response)
WHERE r.label = 1
  AND (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
RETURN r.id AS id
LIMIT 1
