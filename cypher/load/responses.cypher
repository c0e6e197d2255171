// Write the responses in dialogues. The caller has written the dialogues in the same transaction.
// $responses: maps of utterance (id of the turn that is answered) and the properties of a Response
// Columns: responses (number of responses written)
UNWIND $responses AS row
MATCH (u:Utterance {id: row.utterance})
CREATE (u)-[:HAS_RESPONSE]->(r:Response {id: row.id, text: row.text, label: row.label, source: row.source})
RETURN count(*) AS responses
