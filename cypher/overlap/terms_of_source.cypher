// Return the terms that the sentences from one source mention.
// $source: name of the source
// Columns: text, sentences (number of sentences from this source that mention the term)
MATCH (t:Term)<-[:MENTIONS]-(s:Sentence {source: $source})
RETURN t.text AS text, count(s) AS sentences
