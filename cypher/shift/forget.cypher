// Begin to delete the shift graph, so that it can be built again, also with another extractor or embedder. The query
// forgotten ends the deletion. If another run is already deleting the graph, that run stops, because the ShiftGraph
// node no longer stores its name.
// $keywords, $embedder: names of the keyword extractor and the embedder for the new shift graph
// $run: name of the run that deletes the graph
// Columns: id
MERGE (g:ShiftGraph {id: 'shift'})
SET g.keywords = $keywords, g.embedder = $embedder, g.writes = 0, g.removing = $run
RETURN g.id AS id
