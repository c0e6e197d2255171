// A page of the pool's sentences, but for those that come with graphneg. $after: id of the last one of the page before ('' at the start); $limit: how many
// Columns: row (the properties)
MATCH (s:Sentence)
WHERE s.id > $after AND s.source <> 'anecdotes'
WITH s ORDER BY s.id LIMIT $limit
RETURN properties(s) AS row
ORDER BY s.id
