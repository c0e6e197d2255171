// Return a page of terms with opposites, sorted by text. A pair of opposites is returned only with the term where its
// edge starts.
// $after: text of the last term of the previous page; '' for the first page
// $limit: maximum number of terms
// Columns: text (of the term), edges (lists of text of the opposite, relation, language, weight, source)
MATCH (t:Term)
WHERE t.text > $after AND EXISTS { (t)-[:OPPOSITE]->(:Term) }
WITH t, t.text AS text
ORDER BY text
LIMIT $limit
MATCH (t)-[o:OPPOSITE]->(x:Term)
RETURN text, collect([x.text, o.relation, o.language, o.weight, o.source]) AS edges
ORDER BY text
