// The terms that sentences of a source mention, with how many do.
// $source: its name
// Columns: text, sentences
MATCH (t:Term)<-[:MENTIONS]-(s:Sentence {source: $source})
RETURN t.text AS text, count(s) AS sentences
