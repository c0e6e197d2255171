// Count the nodes and relationships in the store, by label and by type.
// Columns: kind (a label or a relationship type), amount (number of nodes or relationships)
MATCH (n:Dialogue) RETURN 'Dialogue' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Utterance) RETURN 'Utterance' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Response) RETURN 'Response' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Amr) RETURN 'Amr' AS kind, count(n) AS amount
UNION ALL
MATCH (n:AmrNode) RETURN 'AmrNode' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Clause) RETURN 'Clause' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Entity) RETURN 'Entity' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Term) RETURN 'Term' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Frame) RETURN 'Frame' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Parse) RETURN 'Parse' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Sentence) RETURN 'Sentence' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Variant) RETURN 'Variant' AS kind, count(n) AS amount
UNION ALL
MATCH (n:Edit) RETURN 'Edit' AS kind, count(n) AS amount
UNION ALL
MATCH ()-[r:ROLE]->() RETURN 'ROLE' AS kind, count(r) AS amount
UNION ALL
MATCH ()-[r:LEXEME]->() RETURN 'LEXEME' AS kind, count(r) AS amount
UNION ALL
MATCH ()-[r:OPPOSITE]->() RETURN 'OPPOSITE' AS kind, count(r) AS amount
UNION ALL
MATCH ()-[r:SHIFTS_TO]->() RETURN 'SHIFTS_TO' AS kind, count(r) AS amount
