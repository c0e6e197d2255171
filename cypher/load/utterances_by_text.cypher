// Return utterances by their text, with the digests of their graphs.
// Dialogues that were made from graphs are left out: a graph from another source with the same text is not theirs.
// $keys: digests of texts, computed after normalising whitespace
// Columns: key, id, digests
UNWIND $keys AS key
MATCH (u:Utterance {key: key})<-[:HAS_TURN]-(d:Dialogue)
WHERE d.made_of IS NULL
OPTIONAL MATCH (u)-[:MEANS]->(a:Amr)
RETURN key, u.id AS id, collect(a.digest) AS digests
