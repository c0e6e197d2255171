// For each of the given graphs, return the utterance whose meaning the graph represents.
// $amrs: ids of graphs
// Columns: amr, turn, speaker, text (of the utterance)
UNWIND $amrs AS amr
MATCH (:Amr {id: amr})<-[:MEANS]-(u:Utterance)
RETURN amr, u.turn AS turn, u.speaker AS speaker, u.text AS text
