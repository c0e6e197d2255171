// The variants that were made of the dialogues of these graphs.
// $amrs: ids of graphs of utterances
// Columns: variant
UNWIND $amrs AS amr
MATCH (:Amr {id: amr})<-[:MEANS]-(:Utterance)<-[:HAS_TURN]-(d:Dialogue)<-[:VARIANT_OF]-(v:Variant)
RETURN DISTINCT v.id AS variant
