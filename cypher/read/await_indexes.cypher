// Wait until indexes are populated, at most one hour. Neo4j only.
CALL db.awaitIndexes(3600)
