// Notes that a store that was imported in bulk has its constraints and indexes.
// Columns: schemas
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.imported = null
RETURN count(s) AS schemas
