// Wait until all indexes are populated, for at most one hour. Only Neo4j has this procedure.
CALL db.awaitIndexes(3600)
