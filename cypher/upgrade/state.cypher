// Return the schema version of the store, and the progress of an upgrade.
// Columns: version, facts (text that identifies how the facts were computed), after (id of the last upgraded graph)
MATCH (s:GraphnegSchema {id: 'graphneg'})
RETURN s.version AS version, s.facts AS facts, s.upgraded_to AS after
