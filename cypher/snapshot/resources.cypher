// Count the PropBank frames, lexicon entries and ConceptNet opposites in the store.
// Columns: kind, amount (number of items)
MATCH (n:Frame) RETURN 'frames' AS kind, count(n) AS amount
UNION ALL
MATCH (n:LexiconEntry) RETURN 'lexicon entries' AS kind, count(n) AS amount
UNION ALL
MATCH (:Term)-[r:OPPOSITE]->() RETURN 'opposites' AS kind, count(r) AS amount
