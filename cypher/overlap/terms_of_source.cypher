// Return the terms that sentences of one source mention.
// $source: name of the source
// Columns: text, sentences (how many mention it)
MATCH (t:Term)<-[:MENTIONS]-(s:Sentence {source: $source})
RETURN t.text AS text, count(s) AS sentences
