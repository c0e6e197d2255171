// Return a page of the pool's sentences, without those that come with graphneg.
// $after: id of the last sentence of the page before; '' for the first page
// $limit: maximum number of sentences
// Columns: row (the properties)
MATCH (s:Sentence)
WHERE s.id > $after AND s.source <> 'anecdotes'
WITH s ORDER BY s.id LIMIT $limit
RETURN properties(s) AS row
ORDER BY s.id
