// Add new sentences to the sentence pool, from which the generator overlap takes responses. Link each sentence to the
// terms that it mentions. Each term also stores how many sentences mention it, and how many of these sentences come
// from dialogues. Relationships refer to sentences by their index in $sentences, so that the server does not have to
// look up any sentence.
// $sentences: maps of the properties of a Sentence
// $mentions: maps of text (of a term), places (indices in $sentences of the sentences that mention the term), scores
//   (one for each of these sentences) and spoken (the number of these sentences that come from dialogues), sorted by
//   text
// Columns: mentions (number of MENTIONS relationships written)
UNWIND $sentences AS row
CREATE (s:Sentence {
  id: row.id, text: row.text, source: row.source, dialogue: row.dialogue, words: row.words,
  content: row.content, mood: row.mood, person: row.person, opening: row.opening, finite: row.finite,
  plain: row.plain, rank: row.rank, terms: row.terms})
WITH collect(s) AS ss
UNWIND $mentions AS row
MATCH (t:Term {text: row.text})
SET t.sentences = coalesce(t.sentences, 0) + size(row.places), t.spoken = coalesce(t.spoken, 0) + row.spoken
WITH ss, t, row
UNWIND range(0, size(row.places) - 1) AS i
WITH t, ss[row.places[i]] AS s, row.scores[i] AS score
CREATE (s)-[:MENTIONS {score: score}]->(t)
RETURN count(*) AS mentions
