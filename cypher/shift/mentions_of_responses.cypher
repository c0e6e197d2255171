// Link responses to their keywords. All terms must exist in the store.
// $rows: maps of id (of a response), text (of a term) and score; sorted by id
// Columns: mentions (number of links written)
UNWIND $rows AS row
MATCH (r:Response {id: row.id})
MATCH (t:Term {text: row.text})
MERGE (r)-[m:MENTIONS]->(t)
SET m.score = row.score
RETURN count(*) AS mentions
