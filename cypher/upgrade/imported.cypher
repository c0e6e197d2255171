// Record that a store that was imported in bulk has its constraints and indexes now.
// Columns: schemas (1)
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.imported = null
RETURN count(s) AS schemas
