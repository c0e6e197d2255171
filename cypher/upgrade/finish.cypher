// Store the new version of the schema when an upgrade has finished.
// $version: version of the schema
// $facts: text that identifies the code and the lexicon with which the facts were computed
// Columns: schemas (number of schema nodes, 1)
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.version = $version, s.facts = $facts, s.upgraded_to = null
RETURN count(s) AS schemas
