// Utterances by their text, with the digests of the graphs that they have. Dialogues that were
// made of graphs are left out: a graph of another book with the same words is not theirs.
// $keys: digests of texts with white space normalised
// Columns: key, id, digests
UNWIND $keys AS key
MATCH (u:Utterance {key: key})<-[:HAS_TURN]-(d:Dialogue)
WHERE d.made_of IS NULL
OPTIONAL MATCH (u)-[:MEANS]->(a:Amr)
RETURN key, u.id AS id, collect(a.digest) AS digests
