// Return the replies in dialogues: utterances that follow another utterance, and correct responses.
// $ids: ids of dialogues
// Columns: dialogue, turn (of the post, that is, the turn that is replied to), reply, text, focus, perspective (focus
//          and perspective are null if they are unknown)
UNWIND $ids AS dialogue
MATCH (d:Dialogue {id: dialogue})-[:HAS_TURN]->(post:Utterance)-[:NEXT|HAS_RESPONSE]->(reply)
// A response that the corpus marks as wrong (label 0) is not a reply.
WHERE reply:Utterance OR reply.label = 1
OPTIONAL MATCH (reply)-[:FOCUS]->(f:Term)
OPTIONAL MATCH (reply)-[:PERSPECTIVE]->(p:Term)
RETURN dialogue, post.turn AS turn, reply.id AS reply, reply.text AS text,
       f.text AS focus, p.text AS perspective
