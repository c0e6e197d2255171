// Return the turns of dialogues, and their graphs.
// $ids: ids of dialogues
// Columns: id, corpus, split, turns. Each turn is a list: number, speaker, text, graph id, graph source, graph digest,
//          and true if only few words of the text are English (else null).
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)
OPTIONAL MATCH (u)-[:MEANS]->(a:Amr)
RETURN id, d.corpus AS corpus, d.split AS split,
       collect([u.turn, u.speaker, u.text, a.id, a.source, a.digest, a.foreign]) AS turns
