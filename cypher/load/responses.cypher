// Writes reference, adversarial and random responses of dialogues that this transaction wrote.
// $responses: {utterance: id, properties of a Response}
// Columns: responses
UNWIND $responses AS row
MATCH (u:Utterance {id: row.utterance})
CREATE (u)-[:HAS_RESPONSE]->(r:Response {id: row.id, text: row.text, label: row.label, source: row.source})
RETURN count(*) AS responses
