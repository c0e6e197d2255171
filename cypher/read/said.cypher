// Return the utterance whose meaning each of the given graphs represents.
// $amrs: ids of graphs
// Columns: amr, turn, speaker, text
UNWIND $amrs AS amr
MATCH (:Amr {id: amr})<-[:MEANS]-(u:Utterance)
RETURN amr, u.turn AS turn, u.speaker AS speaker, u.text AS text
