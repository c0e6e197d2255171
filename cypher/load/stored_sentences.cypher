// Return which of the given sentences of the sentence pool are in the store.
// $ids: ids of sentences
// Columns: id, text
UNWIND $ids AS id
MATCH (s:Sentence {id: id})
RETURN s.id AS id, s.text AS text
