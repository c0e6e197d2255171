// For each term, return a sample of the sentences in the pool that mention the term and can be used as responses.
// Each sentence has a random rank. The sample consists of the sentences whose ranks are in an interval. If the interval
// extends beyond the highest rank, it continues at rank 0.
// $terms: maps with the keys text, first, last and again. The interval contains the ranks from "first" to "last". If it
//   continues at rank 0, it also contains the ranks below "again"; otherwise "again" is 0.
// $least, $most: minimum and maximum number of words in a sentence
// $content: minimum number of content words in a sentence
// $openings: first words that mark a reply, such as "yes"; sentences that begin with such a word are left out
// $sources: names of sources of sentences; an empty list means all
// Columns: term, sentences (lists of id, text, terms, mood (such as 'question'), person (lowest grammatical person that
//          the sentence mentions), dialogue, rank)
UNWIND $terms AS row
MATCH (t:Term {text: row.text})<-[:MENTIONS]-(s:Sentence)
WHERE ((s.rank >= row.first AND s.rank <= row.last) OR s.rank < row.again)
  AND s.words >= $least AND s.words <= $most AND s.content >= $content
  // The sentence has a finite verb: "I lost my keys.", but not "What a day!"
  AND s.finite
  // The sentence is carefully written, without links, brackets or words such as "dont".
  AND s.plain
  // The sentence does not begin like a reply: "Yes, I did." would be a correct answer to many questions.
  AND NOT s.opening IN $openings
  AND (size($sources) = 0 OR s.source IN $sources)
RETURN row.text AS term, collect([s.id, s.text, s.terms, s.mood, s.person, s.dialogue, s.rank]) AS sentences
