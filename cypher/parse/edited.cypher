// Return the variants (edited dialogues) of the dialogues that the given graphs belong to.
// $amrs: ids of graphs of utterances
// Columns: variant (id)
UNWIND $amrs AS amr
MATCH (:Amr {id: amr})<-[:MEANS]-(:Utterance)<-[:HAS_TURN]-(d:Dialogue)<-[:VARIANT_OF]-(v:Variant)
RETURN DISTINCT v.id AS variant
