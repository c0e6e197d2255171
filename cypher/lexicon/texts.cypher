// Return the text whose meaning each of the given graphs represents.
// $ids: ids of graphs
// Columns: id, text
UNWIND $ids AS id
MATCH (:Amr {id: id})<-[:MEANS]-(u)
RETURN id, max(u.text) AS text
