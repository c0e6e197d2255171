// Return a sample of the utterances: those whose text digest is in an interval.
// The order in which the dialogues were loaded has no influence on the sample.
// $corpus, $split: names
// $low, $high: interval of digests, without its end
// Columns: key (digest), dialogue, turn, text
MATCH (u:Utterance)
WHERE u.key >= $low AND u.key < $high
MATCH (u)<-[:HAS_TURN]-(d:Dialogue)
WHERE d.corpus = $corpus AND d.split = $split
RETURN u.key AS key, d.id AS dialogue, u.turn AS turn, u.text AS text
