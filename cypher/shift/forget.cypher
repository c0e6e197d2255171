// Begin to delete the shift graph, because it is to be built by another method; `forgotten` ends the deletion.
// A run that was deleting it before stops, because the name of the run no longer matches.
// $keywords, $embedder: names of the new methods
// $run: name of the run that deletes the graph
// Columns: id
MERGE (g:ShiftGraph {id: 'shift'})
SET g.keywords = $keywords, g.embedder = $embedder, g.writes = 0, g.removing = $run
RETURN g.id AS id
