// Utterances of a corpus and split whose texts' digests are in an interval: a sample that no order decides.
// $corpus, $split; $low, $high: the interval, without its end
// Columns: key (the digest), dialogue, amr, length (characters of the text)
MATCH (u:Utterance)
WHERE u.key >= $low AND u.key < $high
MATCH (u)<-[:HAS_TURN]-(d:Dialogue)
WHERE d.corpus = $corpus AND d.split = $split
MATCH (u)-[:MEANS]->(a:Amr)
WHERE a.foreign IS NULL
RETURN u.key AS key, d.id AS dialogue, a.id AS amr, size(u.text) AS length
