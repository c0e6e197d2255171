// Return a page of the sentences in the sentence pool, without the sentences that graphneg itself provides.
// $after: id of the last sentence of the previous page; '' for the first page
// $limit: maximum number of sentences
// Columns: row (properties of a sentence)
MATCH (s:Sentence)
WHERE s.id > $after
  // The sentence is not one of those that graphneg provides, which every store already has.
  AND s.source <> 'anecdotes'
WITH s ORDER BY s.id LIMIT $limit
RETURN properties(s) AS row
ORDER BY s.id
