// Return the frames of verbs and other predicates.
// $words: lemmas of the predicates
// Columns: lemma, id (of the frame), roles (numbered roles of the frame)
UNWIND $words AS word
MATCH (f:Frame {lemma: word})
RETURN word AS lemma, f.id AS id, f.roles AS roles
