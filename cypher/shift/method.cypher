// Return the keyword extractor and the embedder with which the shift graph was built; no row if there is no shift
// graph.
// Columns: keywords, embedder (names of the extractor and embedder), forgetting (true while an older graph is being
//          deleted)
MATCH (g:ShiftGraph {id: 'shift'})
RETURN g.keywords AS keywords, g.embedder AS embedder, g.removing IS NOT NULL AS forgetting
