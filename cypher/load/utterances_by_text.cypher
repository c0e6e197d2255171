// Return the utterances with given texts, and the digests of their graphs.
// Utterances of dialogues that were made from graphs are left out: a graph from another source that has the same text
// does not belong to them.
// $keys: digests of the texts, computed after normalising white space
// Columns: key, id, digests
UNWIND $keys AS key
MATCH (u:Utterance {key: key})<-[:HAS_TURN]-(d:Dialogue)
WHERE d.made_of IS NULL
OPTIONAL MATCH (u)-[:MEANS]->(a:Amr)
RETURN key, u.id AS id, collect(a.digest) AS digests
