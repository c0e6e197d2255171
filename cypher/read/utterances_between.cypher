// Utterances of a corpus and split whose texts' digests are in an interval: a sample that no order decides.
// $corpus, $split; $low, $high: the interval, without its end
// Columns: key (the digest), dialogue, turn, text
MATCH (u:Utterance)
WHERE u.key >= $low AND u.key < $high
MATCH (u)<-[:HAS_TURN]-(d:Dialogue)
WHERE d.corpus = $corpus AND d.split = $split
RETURN u.key AS key, d.id AS dialogue, u.turn AS turn, u.text AS text
