// Record how far an upgrade has come.
// $after: id of the last graph that was written
// Columns: schemas (1)
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.upgraded_to = $after
RETURN count(s) AS schemas
