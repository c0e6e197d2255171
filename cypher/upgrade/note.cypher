// Notes how far an upgrade is. $after: id of the last graph that was written
// Columns: schemas
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.upgraded_to = $after
RETURN count(s) AS schemas
