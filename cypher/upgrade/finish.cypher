// Set the version of the schema at the end of an upgrade.
// $version: version of the schema
// $facts: identifies the code and the lexicon that computed the facts
// Columns: schemas (1)
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.version = $version, s.facts = $facts, s.upgraded_to = null
RETURN count(s) AS schemas
