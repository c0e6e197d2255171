// Begins to remove the shift graph, to make it another way; `forgotten` ends that. A run that was
// removing it before does so no longer.
// $keywords, $embedder: names of the new one; $run: name of the run that removes it
// Columns: id
MERGE (g:ShiftGraph {id: 'shift'})
SET g.keywords = $keywords, g.embedder = $embedder, g.writes = 0, g.removing = $run
RETURN g.id AS id
