// Return a page of ids of graphs, sorted by id.
// $after: last id on the previous page; '' for the first page
// $limit: maximum number of graphs
// Columns: id
MATCH (a:Amr)
WHERE a.id > $after
RETURN a.id AS id
ORDER BY id
LIMIT $limit
