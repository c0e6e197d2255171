// Return the utterances whose meaning the given graphs represent.
// $amrs: ids of graphs
// Columns: amr, turn, speaker, text
UNWIND $amrs AS amr
MATCH (:Amr {id: amr})<-[:MEANS]-(u:Utterance)
RETURN amr, u.turn AS turn, u.speaker AS speaker, u.text AS text
