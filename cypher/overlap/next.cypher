// Return those of the given sentences that can be the second sentence of a response. In its dialogue, each of them
// follows the first sentence in the same turn.
// $ids: ids of sentences
// $most: maximum number of words in a sentence
// Columns: id, text, terms, mood
UNWIND $ids AS id
MATCH (s:Sentence {id: id})
WHERE s.finite AND s.plain AND s.words <= $most
RETURN id, s.text AS text, s.terms AS terms, s.mood AS mood
