// Return the version of the store's schema; no row if no schema has been applied yet.
// Columns: version, facts (text that identifies the code and the lexicon with which the properties of graph nodes were
//          computed), graphneg (version of graphneg that created the store), imported (true from a bulk import until
//          constraints and indexes are created)
MATCH (s:GraphnegSchema {id: 'graphneg'})
RETURN s.version AS version, s.facts AS facts, s.graphneg AS graphneg, s.imported AS imported
