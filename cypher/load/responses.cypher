// Writes reference, adversarial and random responses of dialogues that this transaction wrote.
// $responses: {utterance: id, properties}
// Columns: responses
UNWIND $responses AS row
MATCH (u:Utterance {id: row.utterance})
CREATE (u)-[:HAS_RESPONSE]->(r:Response) SET r = row.properties
RETURN count(*) AS responses
