// Begin to delete the shift graph, so that a new one can be built, for example with another keyword extractor. The
// query shift/forgotten ends the deletion. The ShiftGraph node stores the name of the run that deletes the graph. If
// another run was already deleting it, that run finds the new name there and stops.
// $keywords, $embedder: names of the keyword extractor and the embedder for the new shift graph
// $run: name of the run that deletes the graph
// Columns: id
MERGE (g:ShiftGraph {id: 'shift'})
SET g.keywords = $keywords, g.embedder = $embedder, g.writes = 0, g.removing = $run
RETURN g.id AS id
