// Count the sentences of the pool by source.
// $least, $most: minimum and maximum number of words of a response
// $content: minimum number of content words of a response
// $openings: first words that mark a reply ("yes"); sentences that begin with one are left out
// Columns: source, sentences, spoken (those from dialogues), fit (those that can be responses)
MATCH (s:Sentence)
RETURN s.source AS source, count(s) AS sentences,
       sum(CASE WHEN s.dialogue <> '' THEN 1 ELSE 0 END) AS spoken,
       sum(CASE WHEN s.words >= $least AND s.words <= $most AND s.content >= $content
                 AND s.finite AND s.plain AND NOT s.opening IN $openings THEN 1 ELSE 0 END) AS fit
ORDER BY source
