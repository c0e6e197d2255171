// The store's version, what its facts were computed by, and the id of the last graph that an upgrade wrote.
// Columns: version, facts, after
MATCH (s:GraphnegSchema {id: 'graphneg'})
RETURN s.version AS version, s.facts AS facts, s.upgraded_to AS after
