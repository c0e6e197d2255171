// Count the shifts in the given corpora. A shift is a reply that takes up one term (the focus) and moves to another term
// (the perspective). Utterances and responses are counted separately, so a pair of terms may have two rows.
// $corpora: names of corpora
// Columns: focus, perspective, count (number of utterances, or of responses, with this shift)
MATCH (d:Dialogue)-[:HAS_TURN]->(u:Utterance)-[:FOCUS]->(f:Term)
WHERE d.corpus IN $corpora
MATCH (u)-[:PERSPECTIVE]->(p:Term)
RETURN f.text AS focus, p.text AS perspective, count(*) AS count
UNION ALL
MATCH (d:Dialogue)-[:HAS_TURN]->(:Utterance)-[:HAS_RESPONSE]->(r:Response)-[:FOCUS]->(f:Term)
WHERE d.corpus IN $corpora
MATCH (r)-[:PERSPECTIVE]->(p:Term)
RETURN f.text AS focus, p.text AS perspective, count(*) AS count
