// Return the frames of lemmas.
// $words: lemmas
// Columns: lemma, id, roles
UNWIND $words AS word
MATCH (f:Frame {lemma: word})
RETURN word AS lemma, f.id AS id, f.roles AS roles
