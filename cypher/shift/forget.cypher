// Begins to remove the shift graph, to make it another way; `forgotten` ends that.
// $keywords, $embedder: names of the new one
// Columns: id
MERGE (g:ShiftGraph {id: 'shift'})
SET g.keywords = $keywords, g.embedder = $embedder, g.writes = 0, g.forgetting = true
RETURN g.id AS id
