// Begin a transaction that deletes a part of the shift graph. It locks the graph in the same way as the query begin.
// $run: name of the run that deletes the graph
// Columns: id; no row if another run deletes the graph now, or if the deletion has ended
MATCH (g:ShiftGraph {id: 'shift'})
WHERE g.removing = $run
SET g.writes = g.writes + 1
RETURN g.id AS id
