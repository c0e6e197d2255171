// Return the turns of dialogues, with the digests of their graphs, to compute a digest of the store's content.
// $ids: ids of dialogues
// Columns: id, corpus, split, sort_key (by which the dialogues are sorted), turns (lists of turn, speaker, text, graph
//          id, graph source, graph digest, whether the graph is never edited because its text is not English)
UNWIND $ids AS id
MATCH (d:Dialogue {id: id})-[:HAS_TURN]->(u:Utterance)
OPTIONAL MATCH (u)-[:MEANS]->(a:Amr)
RETURN id, d.corpus AS corpus, d.split AS split, d.order AS sort_key,
       collect([u.turn, u.speaker, u.text, a.id, a.source, a.digest, a.foreign]) AS turns
