// Begin a transaction that deletes a part of the shift graph. This query changes the ShiftGraph node, which locks the
// node until the transaction ends, so that no other transaction writes to the shift graph at the same time.
// $run: name of the run that deletes the graph
// Columns: id; no row if another run has started to delete the graph, or if the deletion has ended
MATCH (g:ShiftGraph {id: 'shift'})
// The property removing contains the name of the run that deletes the shift graph. Change nothing if this is no
// longer $run, because another run has started to delete the graph.
WHERE g.removing = $run
SET g.writes = g.writes + 1
RETURN g.id AS id
