// Write the clauses of dialogues, with their relations, and link them to their texts and to the nodes of graphs.
// The graphs were written before. Relations refer to clauses by their index in $clauses.
// $clauses: maps of the properties of a Clause
// $graphs: maps of amr (graph id) and heads (a map from the position of a node, as a string, to the index of the clause
//   whose head it is)
// $repeats, $contradicts, $answers: pairs of the index of a clause and the index of an earlier clause
// Columns: clauses (number of clauses linked)
UNWIND $clauses AS row
CREATE (c:Clause {
  id: row.id, dialogue: row.dialogue, turn: row.turn, index: row.index, speaker: row.speaker, type: row.type,
  polarity: row.polarity, modality: row.modality, tense: row.tense, hedged: row.hedged,
  reported: row.reported, self_contained: row.self_contained})
WITH collect(c) AS cs
FOREACH (pair IN $repeats |
  FOREACH (a IN [cs[pair[0]]] | FOREACH (b IN [cs[pair[1]]] | CREATE (a)-[:REPEATS]->(b))))
FOREACH (pair IN $contradicts |
  FOREACH (a IN [cs[pair[0]]] | FOREACH (b IN [cs[pair[1]]] | CREATE (a)-[:CONTRADICTS]->(b))))
FOREACH (pair IN $answers |
  FOREACH (a IN [cs[pair[0]]] | FOREACH (b IN [cs[pair[1]]] | CREATE (a)-[:ANSWERS]->(b))))
WITH cs
UNWIND $graphs AS row
MATCH (a:Amr {id: row.amr})<-[:MEANS]-(said)
MATCH (n:AmrNode {amr: row.amr})
WITH cs, said, n, row.heads[toString(n.position)] AS clause
WHERE clause IS NOT NULL
WITH said, n, cs[clause] AS c
CREATE (said)-[:HAS_CLAUSE]->(c)-[:HEAD]->(n)
RETURN count(*) AS clauses
