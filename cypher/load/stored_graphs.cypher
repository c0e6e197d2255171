// Which of these graphs are in the store already, and with what content.
// $ids: ids of graphs
// Columns: id, digest
UNWIND $ids AS id
MATCH (a:Amr {id: id})
RETURN a.id AS id, a.digest AS digest
