// The shifts that responses to turns of some corpora make, counted.
// $corpora: names
// Columns: focus, perspective, count
MATCH (d:Dialogue)-[:HAS_TURN]->(:Utterance)-[:HAS_RESPONSE]->(r:Response)-[:FOCUS]->(f:Term)
WHERE d.corpus IN $corpora
MATCH (r)-[:PERSPECTIVE]->(p:Term)
RETURN f.text AS focus, p.text AS perspective, count(*) AS count
