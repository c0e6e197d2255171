// Record the progress of an upgrade, so that it can be continued.
// $after: id of the last graph that was upgraded
// Columns: schemas (number of schema nodes, 1)
MATCH (s:GraphnegSchema {id: 'graphneg'})
SET s.upgraded_to = $after
RETURN count(s) AS schemas
