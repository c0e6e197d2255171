// After a bulk import, record that the constraints and indexes of the store are now created.
// Columns: schemas (number of GraphnegSchema nodes changed, always 1)
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.imported = null
RETURN count(s) AS schemas
