// Record that a snapshot has been loaded completely.
// $digest: digest of the snapshot
// $facts: facts about the whole corpus, as JSON
// Columns: digest
MERGE (s:Snapshot {id: 'snapshot'})
SET s.digest = $digest, s.facts = $facts
RETURN s.digest AS digest
