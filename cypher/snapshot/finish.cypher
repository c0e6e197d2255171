// Record that a snapshot was loaded completely. A snapshot is a file with corpus-wide data, such as counts of shifts.
// $digest: digest of the snapshot
// $facts: facts about the whole corpus, such as its number of dialogues, as JSON
// Columns: digest
MERGE (s:Snapshot {id: 'snapshot'})
SET s.digest = $digest, s.facts = $facts
RETURN s.digest AS digest
