// Record that a snapshot is in the store completely.
// $digest: digest of the snapshot
// $facts: JSON text with the counts of the snapshot
// Columns: digest
MERGE (s:Snapshot {id: 'snapshot'})
SET s.digest = $digest, s.facts = $facts
RETURN s.digest AS digest
