// Open a transaction that deletes a part of the shift graph, as `begin` opens one that writes to it.
// $run: name of the run that deletes the graph
// Columns: id; no row if another run is deleting it, or if nothing is left to delete
MATCH (g:ShiftGraph {id: 'shift'})
WHERE g.removing = $run
SET g.writes = g.writes + 1
RETURN g.id AS id
