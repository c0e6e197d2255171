// only_in: Topics that occur in the utterances of one corpus only.
// $corpus: name of the corpus
// $limit (20): maximum number of rows; the most frequent topics come first
// Columns: topic, utterances (number of utterances that mention the topic)
MATCH (d:Dialogue {corpus: $corpus})-[:HAS_TURN]->(u:Utterance)-[:MENTIONS]->(t:Term)
WITH t, count(u) AS utterances
// No utterance of another corpus mentions the topic.
WHERE NOT EXISTS { MATCH (t)<-[:MENTIONS]-(:Utterance)<-[:HAS_TURN]-(o:Dialogue) WHERE o.corpus <> $corpus }
WITH t.text AS topic, utterances
ORDER BY utterances DESC, topic
LIMIT $limit
RETURN topic, utterances
