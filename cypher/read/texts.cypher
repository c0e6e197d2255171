// What the turns of dialogues say, as lists that are compared with those of another time.
// $ids: ids of dialogues
// Columns: id, corpus, split, turns (lists of turn, speaker, text, graph id, graph source, graph digest)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)
OPTIONAL MATCH (u)-[:MEANS]->(a:Amr)
RETURN id, d.corpus AS corpus, d.split AS split,
       collect([u.turn, u.speaker, u.text, a.id, a.source, a.digest]) AS turns
