// Notes that all of a snapshot is in the store. $digest, $facts (JSON): of the snapshot
// Columns: digest
MERGE (s:Snapshot {id: 'snapshot'})
SET s.digest = $digest, s.facts = $facts
RETURN s.digest AS digest
