// How large the pool is, by source: all sentences, those said in dialogues, and those that can be responses.
// $least, $most: words; $content: the least content words; $openings: first words of replies
// Columns: source, sentences, spoken, fit
MATCH (s:Sentence)
RETURN s.source AS source, count(s) AS sentences,
       sum(CASE WHEN s.dialogue <> '' THEN 1 ELSE 0 END) AS spoken,
       sum(CASE WHEN s.words >= $least AND s.words <= $most AND s.content >= $content
                 AND s.finite AND s.plain AND NOT s.opening IN $openings THEN 1 ELSE 0 END) AS fit
ORDER BY source
