// Count the sentences of the sentence pool by source.
// $least, $most: minimum and maximum number of words in a response
// $content: minimum number of content words in a response
// $openings: first words that mark a reply, such as "yes"; sentences that begin with such a word cannot be responses
// Columns: source (corpus and split of the sentences, or name of their text file), sentences (number of sentences),
//          spoken (number of sentences from dialogues), fit (number of sentences that can be responses)
MATCH (s:Sentence)
RETURN s.source AS source, count(s) AS sentences,
       sum(CASE WHEN s.dialogue <> '' THEN 1 ELSE 0 END) AS spoken,
       sum(CASE WHEN s.words >= $least AND s.words <= $most AND s.content >= $content
                 // As in the query overlap/sharing: the sentence has a finite verb, is carefully written, and does
                 // not begin like a reply.
                 AND s.finite AND s.plain AND NOT s.opening IN $openings THEN 1 ELSE 0 END) AS fit
ORDER BY source
