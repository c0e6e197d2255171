// Opens a transaction that removes a part of the shift graph, as `begin` opens one that writes to it.
// $run: name of the run that removes it
// Columns: id; no row where another run removes it by now, or where nothing is to be removed any more
MATCH (g:ShiftGraph {id: 'shift'})
WHERE g.removing = $run
SET g.writes = g.writes + 1
RETURN g.id AS id
