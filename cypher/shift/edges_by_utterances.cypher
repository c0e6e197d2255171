// The shifts that utterances of some corpora make, counted.
// $corpora: names
// Columns: focus, perspective, count
MATCH (d:Dialogue)-[:HAS_TURN]->(u:Utterance)-[:FOCUS]->(f:Term)
WHERE d.corpus IN $corpora
MATCH (u)-[:PERSPECTIVE]->(p:Term)
RETURN f.text AS focus, p.text AS perspective, count(*) AS count
