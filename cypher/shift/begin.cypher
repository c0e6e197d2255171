// Begin a transaction that writes to the shift graph.
// This statement changes the ShiftGraph node, which locks the node until the transaction ends. Transactions that begin
// with this statement therefore run one after another, and no transaction changes data that another transaction reads.
// $keywords, $embedder: names of the keyword extractor and the embedder; they are stored if there is no shift graph yet
// Columns: keywords, embedder (the stored names), forgetting (true while an older shift graph is being deleted)
MERGE (g:ShiftGraph {id: 'shift'})
ON CREATE SET g.keywords = $keywords, g.embedder = $embedder, g.writes = 0
SET g.writes = g.writes + 1
RETURN g.keywords AS keywords, g.embedder AS embedder, g.removing IS NOT NULL AS forgetting
