// Link each word to its replacements on a scale: on the scale "time", "monday" is linked to "thursday".
// $moves: maps with the keys from and to (texts of terms in the store) and scale (name of the scale)
// Columns: moves (number of links written)
UNWIND $moves AS row
MATCH (a:Term {text: row.from})
MATCH (b:Term {text: row.to})
MERGE (a)-[:ALTERNATIVE {scale: row.scale}]->(b)
RETURN count(*) AS moves
