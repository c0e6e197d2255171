// Count what negatives are made from. Comparing the counts shows whether the content of the store has changed.
// What making negatives writes itself is left out: edited graphs, sentences of dialogues and the sentences that come
// with graphneg.
// Columns: kind, amount (rows of one kind are to be added up)
MATCH (n:Dialogue) RETURN 'Dialogue' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Amr) RETURN 'Amr' AS kind, count(n) AS amount
UNION ALL
MATCH (:Variant)-[:MEANS]->(n:Amr) RETURN 'Amr' AS kind, -count(n) AS amount
UNION ALL
MATCH (n:Response) RETURN 'Response' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Parse) RETURN 'Parse' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Frame) RETURN 'Frame' AS kind, count(n) AS amount
UNION ALL
MATCH (n:LexiconEntry) RETURN 'LexiconEntry' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Sentence) WHERE n.dialogue = '' AND n.source <> 'anecdotes' RETURN 'Sentence' AS kind, count(n) AS amount
UNION ALL
MATCH (:Term)-[r:OPPOSITE]->() RETURN 'OPPOSITE' AS kind, count(r) AS amount
UNION ALL
MATCH (:Term)-[r:SHIFTS_TO]->() RETURN 'SHIFTS_TO' AS kind, count(r) AS amount
