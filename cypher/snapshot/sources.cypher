// Return the source of each graph, that is, the parser that made it or the format of the file that it was loaded from.
// $ids: ids of graphs
// Columns: id, source (name and version of a parser, or penman for a graph that was loaded)
UNWIND $ids AS id
MATCH (a:Amr {id: id})
RETURN a.id AS id, a.source AS source
