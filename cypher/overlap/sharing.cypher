// Sentences of the pool that mention a term and can be responses: a sample of them, by rank, for each term.
// $terms:   {text, first, last, again}: ranks from first to last, and those below again, are in the sample
// $least, $most: words; $content: the least content words; $openings: first words of replies
// $sources: sources of sentences; an empty list is no condition
// Columns: term, sentences (lists of id, text, terms, mood, person, dialogue, rank)
UNWIND $terms AS row
MATCH (t:Term {text: row.text})<-[:MENTIONS]-(s:Sentence)
WHERE ((s.rank >= row.first AND s.rank <= row.last) OR s.rank < row.again)
  AND s.words >= $least AND s.words <= $most AND s.content >= $content
  AND s.finite AND s.plain AND NOT s.opening IN $openings
  AND (size($sources) = 0 OR s.source IN $sources)
RETURN row.text AS term, collect([s.id, s.text, s.terms, s.mood, s.person, s.dialogue, s.rank]) AS sentences
