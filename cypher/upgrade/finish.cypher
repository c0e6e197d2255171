// Marks a store with the schema's version. $version
// Columns: schemas
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.version = $version, s.upgraded_to = null
RETURN count(s) AS schemas
