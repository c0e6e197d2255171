// Writes keywords of responses; the terms are there.
// $rows: {id, text: of the term, score}, sorted
// Columns: mentions
UNWIND $rows AS row
MATCH (r:Response {id: row.id})
MATCH (t:Term {text: row.text})
MERGE (r)-[m:MENTIONS]->(t)
SET m.score = row.score
RETURN count(*) AS mentions
