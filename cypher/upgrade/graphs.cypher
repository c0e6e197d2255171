// A page of graphs, by their ids. $after: the last id of the page before; $limit: how many
// Columns: id
MATCH (a:Amr)
WHERE a.id > $after
RETURN a.id AS id
ORDER BY id
LIMIT $limit
