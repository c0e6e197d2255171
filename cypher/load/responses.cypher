// Write the responses that come with dialogues. The same transaction has written the dialogues.
// $responses: maps of utterance (id) and the properties of a Response
// Columns: responses (number written)
UNWIND $responses AS row
MATCH (u:Utterance {id: row.utterance})
CREATE (u)-[:HAS_RESPONSE]->(r:Response {id: row.id, text: row.text, label: row.label, source: row.source})
RETURN count(*) AS responses
