// The sentences behind others in one turn, where they can be responses.
// $ids: ids of sentences; $most: words
// Columns: id, text, terms, mood
UNWIND $ids AS id
MATCH (s:Sentence {id: id})
WHERE s.finite AND s.plain AND s.words <= $most
RETURN id, s.text AS text, s.terms AS terms, s.mood AS mood
