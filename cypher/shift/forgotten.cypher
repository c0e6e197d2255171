// End the deletion of the shift graph.
// $run: name of the run that has deleted it
// Columns: id; no row if another run has started to delete the graph
MATCH (g:ShiftGraph {id: 'shift'})
// If another run has started to delete the graph, the property contains the name of that run.
WHERE g.removing = $run
REMOVE g.removing
RETURN g.id AS id
