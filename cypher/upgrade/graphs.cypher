// Return a page of graphs, in the order of their ids.
// $after: last id of the page before
// $limit: maximum number of graphs
// Columns: id
MATCH (a:Amr)
WHERE a.id > $after
RETURN a.id AS id
ORDER BY id
LIMIT $limit
