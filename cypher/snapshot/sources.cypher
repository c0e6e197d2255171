// Return what made graphs.
// $ids: ids of graphs
// Columns: id, source (a parser with its version, or penman)
UNWIND $ids AS id
MATCH (a:Amr {id: id})
RETURN a.id AS id, a.source AS source
