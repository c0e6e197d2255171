// Return those of the given sentences that are in the store.
// $ids: ids of sentences
// Columns: id, text
UNWIND $ids AS id
MATCH (s:Sentence {id: id})
RETURN s.id AS id, s.text AS text
