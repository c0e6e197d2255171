// Return a sample of the utterances with graphs: those whose text digest is in an interval.
// The order in which the dialogues were loaded has no influence on the sample.
// $corpus, $split: names
// $low, $high: interval of digests, without its end
// Columns: key (digest), dialogue, amr, length (of the text, in characters)
MATCH (u:Utterance)
WHERE u.key >= $low AND u.key < $high
MATCH (u)<-[:HAS_TURN]-(d:Dialogue)
WHERE d.corpus = $corpus AND d.split = $split
MATCH (u)-[:MEANS]->(a:Amr)
WHERE a.foreign IS NULL
RETURN u.key AS key, d.id AS dialogue, a.id AS amr, size(u.text) AS length
