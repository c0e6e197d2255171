// Open a transaction that writes to the shift graph.
// Changing the node of the shift graph first locks it, so that such transactions run one after the other. What the next
// statement reads stays true until the end of the transaction.
// $keywords, $embedder: names of the methods, for a shift graph that does not exist yet
// Columns: keywords, embedder, forgetting (true while an older shift graph is being deleted)
MERGE (g:ShiftGraph {id: 'shift'})
ON CREATE SET g.keywords = $keywords, g.embedder = $embedder, g.writes = 0
SET g.writes = g.writes + 1
RETURN g.keywords AS keywords, g.embedder AS embedder, g.removing IS NOT NULL AS forgetting
