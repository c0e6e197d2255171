// How many graphs come after one. $after: id of a graph
// Columns: graphs
MATCH (a:Amr)
WHERE a.id > $after
RETURN count(a) AS graphs
