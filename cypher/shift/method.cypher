// How the shift graph was made, where there is one.
// Columns: keywords, embedder (names), forgetting (whether an older one is still being removed)
MATCH (g:ShiftGraph {id: 'shift'})
RETURN g.keywords AS keywords, g.embedder AS embedder, g.removing IS NOT NULL AS forgetting
