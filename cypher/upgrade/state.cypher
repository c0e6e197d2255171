// How far an upgrade is: the id of the last graph that it wrote.
// Columns: after
MATCH (s:GraphnegSchema {id: 'graphneg'})
RETURN s.upgraded_to AS after
