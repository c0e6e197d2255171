// Return the texts whose meaning the given graphs represent.
// $ids: ids of graphs
// Columns: id, text
UNWIND $ids AS id
MATCH (:Amr {id: id})<-[:MEANS]-(u)
RETURN id, max(u.text) AS text
