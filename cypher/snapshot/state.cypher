// Return the snapshot that was loaded into this store; no row if no snapshot was loaded.
// Columns: digest, facts (facts about the whole corpus, such as its number of dialogues, as JSON)
MATCH (s:Snapshot {id: 'snapshot'})
RETURN s.digest AS digest, s.facts AS facts
