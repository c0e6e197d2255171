// Waits until indexes are filled, an hour at most. On Neo4j.
CALL db.awaitIndexes(3600)
