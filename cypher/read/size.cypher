// Count all utterances in the store.
// Columns: utterances (number of utterances)
MATCH (u:Utterance)
RETURN count(u) AS utterances
