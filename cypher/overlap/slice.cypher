// Sentences of the pool that can be responses, whatever they mention: those whose rank is in one range.
// $first, $last: the ranks, both in the range
// $least, $most: words; $content: the least content words; $openings: first words of replies
// $sources: sources of sentences; an empty list is no condition
// Columns: sentences (lists of id, text, terms, mood, person, dialogue, rank)
MATCH (s:Sentence)
WHERE s.rank >= $first AND s.rank <= $last
  AND s.words >= $least AND s.words <= $most AND s.content >= $content
  AND s.finite AND s.plain AND NOT s.opening IN $openings
  AND (size($sources) = 0 OR s.source IN $sources)
RETURN collect([s.id, s.text, s.terms, s.mood, s.person, s.dialogue, s.rank]) AS sentences
