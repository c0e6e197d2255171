// Count the sentences of the sentence pool that come from one source.
// $source: name of the source
// Columns: sentences
MATCH (s:Sentence {source: $source})
RETURN count(s) AS sentences
