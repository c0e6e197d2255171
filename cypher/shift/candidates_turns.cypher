// Return the turns of dialogues, and their keywords.
// $ids: ids of dialogues
// Columns: dialogue, turn, text, keywords (lists of keyword, score; one list of nulls if the turn has no keywords)
UNWIND $ids AS dialogue
MATCH (d:Dialogue {id: dialogue})-[:HAS_TURN]->(u:Utterance)
OPTIONAL MATCH (u)-[m:MENTIONS]->(k:Term)
RETURN dialogue, u.turn AS turn, u.text AS text, collect([k.text, m.score]) AS keywords
