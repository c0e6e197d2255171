// Return the terms that are mentioned by sentences from one source.
// $source: name of the source
// Columns: text, sentences (number of these sentences that mention the term)
MATCH (t:Term)<-[:MENTIONS]-(s:Sentence {source: $source})
RETURN t.text AS text, count(s) AS sentences
