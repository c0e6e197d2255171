// Ties words to what they become along a scale.
// $moves: {from, how, to}: texts of terms that are there, and the name of the scale
// Columns: moves
UNWIND $moves AS row
MATCH (a:Term {text: row.from})
MATCH (b:Term {text: row.to})
MERGE (a)-[:MOVES_TO {how: row.how}]->(b)
RETURN count(*) AS moves
