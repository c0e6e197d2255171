// How many utterances the store holds.
// Columns: utterances
MATCH (u:Utterance)
RETURN count(u) AS utterances
