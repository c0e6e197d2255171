// clauses: The clauses of the turns of a dialogue.
// $dialogue: id of the dialogue
// Columns: turn, index, speaker, predicate (concept of the head), type, polarity, modality, tense, hedged, reported,
//          self_contained
MATCH (c:Clause {dialogue: $dialogue})
MATCH (u:Utterance)-[:HAS_CLAUSE]->(c)
MATCH (c)-[:HEAD]->(n:AmrNode)
WITH u.turn AS turn, c.index AS index, c.speaker AS speaker, n.concept AS predicate, c.type AS type,
     c.polarity AS polarity, c.modality AS modality, c.tense AS tense, c.hedged AS hedged, c.reported AS reported,
     c.self_contained AS self_contained
ORDER BY turn, index
RETURN turn, index, speaker, predicate, type, polarity, modality, tense, hedged, reported, self_contained
