// Return the comment lines (metadata) of graphs.
// $amrs: ids of graphs
// Columns: amr, metadata
UNWIND $amrs AS amr
MATCH (a:Amr {id: amr})
RETURN amr, a.metadata AS metadata
