// Writes keywords of utterances; the terms are there.
// $rows: {id, text: of the term, score}, sorted
// Columns: mentions
UNWIND $rows AS row
MATCH (u:Utterance {id: row.id})
MATCH (t:Term {text: row.text})
MERGE (u)-[m:MENTIONS]->(t)
SET m.score = row.score
RETURN count(*) AS mentions
