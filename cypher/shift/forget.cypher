// Begin to delete the shift graph, so that it can be built by another method. The query forgotten ends the deletion. If
// another run is already deleting the graph, that run stops, because the ShiftGraph node no longer stores its name.
// $keywords, $embedder: names of the new keyword extractor and embedder
// $run: name of the run that deletes the graph
// Columns: id
MERGE (g:ShiftGraph {id: 'shift'})
SET g.keywords = $keywords, g.embedder = $embedder, g.writes = 0, g.removing = $run
RETURN g.id AS id
