// Return the utterances with the given ids.
// $ids: texts that may be ids of utterances; other texts give no row
// Columns: id, text
UNWIND $ids AS id
MATCH (u:Utterance {id: id})
RETURN u.id AS id, u.text AS text
