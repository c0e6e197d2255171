// Return the utterances with the given texts, and the digests of their graphs.
// The caller attaches graphs to these utterances. Dialogues that graphneg made from a file of graphs are left out,
// because a graph from another file does not belong to their utterances, even if the text is the same.
// $keys: digests of the texts, computed after normalising white space
// Columns: key, id (of the utterance), digests (of its graphs)
UNWIND $keys AS key
MATCH (u:Utterance {key: key})<-[:HAS_TURN]-(d:Dialogue)
// The property made_of marks dialogues that graphneg made from a file of graphs.
WHERE d.made_of IS NULL
OPTIONAL MATCH (u)-[:MEANS]->(a:Amr)
RETURN key, u.id AS id, collect(a.digest) AS digests
