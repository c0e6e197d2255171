// Count everything from which negatives are made. A changed count shows that the content of the store has changed. Data
// that are written while negatives are made are not counted: edited graphs, sentences from dialogues, and the sentences
// that graphneg itself provides (source 'anecdotes').
// Columns: kind (label or relationship type), amount. The caller adds up the amounts of all rows with the same kind:
//          Amr has a second row with a negative amount, which subtracts the edited graphs.
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
