// End the deletion of the shift graph.
// $run: name of the run that has deleted it
// Columns: id; no row if another run has started to delete the graph
MATCH (g:ShiftGraph {id: 'shift'})
// The property removing contains the name of the run that deletes the shift graph. Change nothing if this is no
// longer $run, because another run has started to delete the graph.
WHERE g.removing = $run
REMOVE g.removing
RETURN g.id AS id
