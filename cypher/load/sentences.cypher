// Writes sentences of a pool that are not in the store yet, each tied to the terms that it mentions.
// Terms count the sentences that mention them, and of these the ones said in dialogues. Sentences are
// numbered by their place in $sentences, so that no relationship needs an index.
// $sentences: properties of a Sentence each
// $mentions:  {text of a term, places: of sentences, scores, spoken: how many are said in dialogues}, sorted
// Columns: mentions
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
