// Utterances by id. $ids: what may be ids of utterances
// Columns: id, text
UNWIND $ids AS id
MATCH (u:Utterance {id: id})
RETURN u.id AS id, u.text AS text
