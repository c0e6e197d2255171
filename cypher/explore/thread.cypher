// thread: A dialogue turn by turn, with the topic that each turn takes up from the previous turn (focus), and the topic
//   to which it shifts (perspective).
// $dialogue: id of the dialogue
// Columns: turn (number of the turn, from 0), speaker, text, focus, perspective (focus and perspective are null if no
//          shift is stored for the turn, as for the first turn)
MATCH (:Dialogue {id: $dialogue})-[:HAS_TURN]->(u:Utterance)
OPTIONAL MATCH (u)-[:FOCUS]->(f:Term)
OPTIONAL MATCH (u)-[:PERSPECTIVE]->(p:Term)
WITH u.turn AS turn, u.speaker AS speaker, u.text AS text, f.text AS focus, p.text AS perspective
ORDER BY turn
RETURN turn, speaker, text, focus, perspective
