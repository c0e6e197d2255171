// Ties graphs whose nodes this transaction wrote to their utterances.
// $amrs: {of: id of an utterance, id: id of the graph, properties}
// Columns: amrs
UNWIND $amrs AS row
MATCH (u:Utterance {id: row.of})
MATCH (n:AmrNode {amr: row.id}) WHERE n.k = 0
CREATE (u)-[:MEANS]->(a:Amr)-[:TOP]->(n) SET a = row.properties
RETURN count(*) AS amrs
