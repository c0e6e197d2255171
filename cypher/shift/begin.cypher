// Opens a transaction that writes to the shift graph. Its node is changed first of all, so that
// transactions follow each other: what the next statement reads holds until the end.
// $keywords, $embedder: names, for a graph that is not there yet
// Columns: keywords, embedder, forgetting
MERGE (g:ShiftGraph {id: 'shift'})
ON CREATE SET g.keywords = $keywords, g.embedder = $embedder, g.writes = 0
SET g.writes = g.writes + 1
RETURN g.keywords AS keywords, g.embedder AS embedder, g.removing IS NOT NULL AS forgetting
