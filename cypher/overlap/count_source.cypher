// How many sentences of the pool have a source.
// $source: its name
// Columns: sentences
MATCH (s:Sentence {source: $source})
RETURN count(s) AS sentences
