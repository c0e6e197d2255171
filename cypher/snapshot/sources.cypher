// Return the source of each graph: the parser that made the graph, or the format of the file from which it was loaded.
// $ids: ids of graphs
// Columns: id, source (name and version of a parser, or penman for a graph that was loaded)
UNWIND $ids AS id
MATCH (a:Amr {id: id})
RETURN a.id AS id, a.source AS source
