// For each of the given graphs, return the text of the utterance or response whose meaning the graph represents.
// $ids: ids of graphs
// Columns: id (of the graph), text
UNWIND $ids AS id
MATCH (:Amr {id: id})<-[:MEANS]-(u)
RETURN id, max(u.text) AS text
