// Return those of the given graphs that are in the store.
// $ids: ids of graphs
// Columns: id, digest (of the content)
UNWIND $ids AS id
MATCH (a:Amr {id: id})
RETURN a.id AS id, a.digest AS digest
