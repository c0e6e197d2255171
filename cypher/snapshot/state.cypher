// The snapshot of a whole corpus that this store was given, where it was.
// Columns: digest, facts (JSON)
MATCH (s:Snapshot {id: 'snapshot'})
RETURN s.digest AS digest, s.facts AS facts
