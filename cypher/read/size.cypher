// Count all utterances of the store.
// Columns: utterances
MATCH (u:Utterance)
RETURN count(u) AS utterances
