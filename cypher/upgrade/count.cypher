// Count the graphs whose ids come after a given id, to show the progress of an upgrade.
// $after: id of the last graph that was already upgraded
// Columns: graphs
MATCH (a:Amr)
WHERE a.id > $after
RETURN count(a) AS graphs
