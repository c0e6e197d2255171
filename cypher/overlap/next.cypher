// Return which of the given sentences can be the second sentence of a response.
// $ids: ids of sentences that follow the response's first sentence in the turn from which it comes
// $most: maximum number of words in a sentence
// Columns: id, text, terms, mood
UNWIND $ids AS id
MATCH (s:Sentence {id: id})
WHERE s.finite AND s.plain AND s.words <= $most
RETURN id, s.text AS text, s.terms AS terms, s.mood AS mood
