// Return the utterances with the given texts, and the digests of their graphs.
// The caller attaches graphs to these utterances. Utterances of a dialogue that was itself made from graphs are left
// out: a graph from another source does not belong to them, even if the text is the same.
// $keys: digests of the texts, computed after normalising white space
// Columns: key, id (of the utterance), digests (of its graphs)
UNWIND $keys AS key
MATCH (u:Utterance {key: key})<-[:HAS_TURN]-(d:Dialogue)
// Only a dialogue that was made from graphs has this property.
WHERE d.made_of IS NULL
OPTIONAL MATCH (u)-[:MEANS]->(a:Amr)
RETURN key, u.id AS id, collect(a.digest) AS digests
