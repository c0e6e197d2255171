// Return which of the given graphs are in the store.
// $ids: ids of graphs
// Columns: id, digest (of the graph's content)
UNWIND $ids AS id
MATCH (a:Amr {id: id})
RETURN a.id AS id, a.digest AS digest
