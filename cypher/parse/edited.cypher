// Return the variants of the dialogues that these graphs belong to.
// $amrs: ids of graphs of utterances
// Columns: variant
UNWIND $amrs AS amr
MATCH (:Amr {id: amr})<-[:MEANS]-(:Utterance)<-[:HAS_TURN]-(d:Dialogue)<-[:VARIANT_OF]-(v:Variant)
RETURN DISTINCT v.id AS variant
