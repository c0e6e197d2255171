// thread: A dialogue turn by turn, with the focus and the perspective of each reply.
// $dialogue: id of the dialogue
// Columns: turn, speaker, text, focus, perspective (focus and perspective are null if the turn has none)
MATCH (:Dialogue {id: $dialogue})-[:HAS_TURN]->(u:Utterance)
OPTIONAL MATCH (u)-[:FOCUS]->(f:Term)
OPTIONAL MATCH (u)-[:PERSPECTIVE]->(p:Term)
WITH u.turn AS turn, u.speaker AS speaker, u.text AS text, f.text AS focus, p.text AS perspective
ORDER BY turn
RETURN turn, speaker, text, focus, perspective
