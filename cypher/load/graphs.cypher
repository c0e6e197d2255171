// Writes the nodes of AMR graphs, tied to each other and to their terms. Nodes are numbered by
// their place in $nodes, so that no relationship needs an index.
// $nodes:   properties of an AmrNode each
// $roles:   {from: place, to: place, properties}
// $lexemes: {text, nodes: places}
// Columns: lexemes
UNWIND $nodes AS row
CREATE (n:AmrNode) SET n = row
WITH collect(n) AS ns
FOREACH (row IN $roles |
  FOREACH (a IN [ns[row.from]] |
    FOREACH (b IN [ns[row.to]] |
      CREATE (a)-[r:ROLE]->(b) SET r = row.properties)))
WITH ns
UNWIND $lexemes AS row
MATCH (t:Term {text: row.text})
UNWIND row.nodes AS place
WITH t, ns[place] AS n
CREATE (n)-[:LEXEME]->(t)
RETURN count(*) AS lexemes
