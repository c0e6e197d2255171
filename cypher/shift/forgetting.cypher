// Begin a transaction that deletes a part of the shift graph. It locks the ShiftGraph node, as the query begin does.
// $run: name of the run that deletes the graph
// Columns: id; no row if another run has started to delete the graph, or if the deletion has ended
MATCH (g:ShiftGraph {id: 'shift'})
WHERE g.removing = $run
SET g.writes = g.writes + 1
RETURN g.id AS id
