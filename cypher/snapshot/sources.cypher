// What made graphs. $ids: of graphs
// Columns: id, source
UNWIND $ids AS id
MATCH (a:Amr {id: id})
RETURN a.id AS id, a.source AS source
