// Nothing is left of the shift graph that was removed.
// $run: name of the run that removed it
// Columns: id; no row where another run removes it by now
MATCH (g:ShiftGraph {id: 'shift'})
WHERE g.removing = $run
REMOVE g.removing
RETURN g.id AS id
