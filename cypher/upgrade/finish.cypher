// Marks a store with the schema's version. $version; $facts: what its facts were computed by
// Columns: schemas
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.version = $version, s.facts = $facts, s.upgraded_to = null
RETURN count(s) AS schemas
