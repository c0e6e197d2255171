// Return the variants (edited copies) of the dialogues to which the given graphs belong.
// $amrs: ids of graphs of utterances
// Columns: variant (its id)
UNWIND $amrs AS amr
MATCH (:Amr {id: amr})<-[:MEANS]-(:Utterance)<-[:HAS_TURN]-(d:Dialogue)<-[:VARIANT_OF]-(v:Variant)
RETURN DISTINCT v.id AS variant
