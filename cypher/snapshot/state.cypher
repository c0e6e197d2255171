// Return the snapshot of a whole corpus that this store was given; no row if it was given none.
// Columns: digest, facts (JSON)
MATCH (s:Snapshot {id: 'snapshot'})
RETURN s.digest AS digest, s.facts AS facts
