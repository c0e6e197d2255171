// Record that a store that was imported in bulk now has its constraints and indexes.
// Columns: schemas (number of schema nodes, 1)
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.imported = null
RETURN count(s) AS schemas
