// Return the source of each graph: the parser that made the graph, or penman if the graph was loaded from a file.
// $ids: ids of graphs
// Columns: id, source (name and version of a parser, or penman)
UNWIND $ids AS id
MATCH (a:Amr {id: id})
RETURN a.id AS id, a.source AS source
