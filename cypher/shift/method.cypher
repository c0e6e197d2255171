// Return the methods that the shift graph was built with; no row if there is no shift graph.
// Columns: keywords, embedder (names), forgetting (true while an older shift graph is being deleted)
MATCH (g:ShiftGraph {id: 'shift'})
RETURN g.keywords AS keywords, g.embedder AS embedder, g.removing IS NOT NULL AS forgetting
