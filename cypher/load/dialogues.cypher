// Write new dialogues and their turns. The caller leaves out dialogues that are already in the store.
// $dialogues: maps of the properties of a Dialogue; the key "more" contains a map of further attributes from the corpus
// $utterances: maps of the properties of an Utterance; the key "dialogue" contains an index in $dialogues, and the key
//   "more" a map of further attributes
// $next: pairs of an index of an utterance in $utterances and the index of the next utterance
// Columns: pairs (number of NEXT relationships written)
UNWIND $dialogues AS row
CREATE (d:Dialogue {id: row.id, corpus: row.corpus, split: row.split, order: row.order, digest: row.digest})
SET d += row.more
WITH collect(d) AS dialogues
UNWIND $utterances AS row
WITH dialogues[row.dialogue] AS d, row
CREATE (d)-[:HAS_TURN]->(u:Utterance {
  id: row.id, turn: row.turn, speaker: row.speaker, text: row.text, key: row.key})
SET u += row.more
WITH collect(u) AS utterances
UNWIND $next AS pair
WITH utterances[pair[0]] AS a, utterances[pair[1]] AS b
CREATE (a)-[:NEXT]->(b)
RETURN count(*) AS pairs
