// Count the graphs that come after a given one, in the order of ids.
// $after: id of a graph
// Columns: graphs
MATCH (a:Amr)
WHERE a.id > $after
RETURN count(a) AS graphs
