// Return a sample of the utterances with graphs, from which transforms copy sentences into other dialogues.
// The sample consists of the utterances whose texts have digests in a given interval. It does not depend on the order
// in which the dialogues were loaded.
// $corpus, $split: names of the corpus and the split
// $low, $high: interval of digests; $high is excluded
// Columns: key (digest of the text), dialogue, amr, length (of the text, in characters)
MATCH (u:Utterance)
WHERE u.key >= $low AND u.key < $high
MATCH (u)<-[:HAS_TURN]-(d:Dialogue)
WHERE d.corpus = $corpus AND d.split = $split
MATCH (u)-[:MEANS]->(a:Amr)
// Most words of the text are English. Nothing is copied from texts in other languages, because the parser was made for
// English, so their graphs are probably wrong.
WHERE a.foreign IS NULL
RETURN u.key AS key, d.id AS dialogue, a.id AS amr, size(u.text) AS length
