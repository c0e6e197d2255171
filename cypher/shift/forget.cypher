// Begin to delete the shift graph, so that it can be built by another method; `forgotten` ends the deletion.
// If another run is deleting the graph already, it stops, because its name is no longer stored.
// $keywords, $embedder: names of the new keyword extractor and embedder
// $run: name of the run that deletes the graph
// Columns: id
MERGE (g:ShiftGraph {id: 'shift'})
SET g.keywords = $keywords, g.embedder = $embedder, g.writes = 0, g.removing = $run
RETURN g.id AS id
