// Return utterances by id.
// $ids: strings that may be ids of utterances; unknown ids have no row
// Columns: id, text
UNWIND $ids AS id
MATCH (u:Utterance {id: id})
RETURN u.id AS id, u.text AS text
