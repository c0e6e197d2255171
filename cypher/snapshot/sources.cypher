// Return the source of graphs, that is, what made them.
// $ids: ids of graphs
// Columns: id, source (name and version of a parser, or penman for a graph that was loaded)
UNWIND $ids AS id
MATCH (a:Amr {id: id})
RETURN a.id AS id, a.source AS source
