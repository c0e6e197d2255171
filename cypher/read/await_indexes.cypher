// Wait until all indexes are populated, for at most one hour. Run this query only on Neo4j, because the embedded server
// does not have the procedure.
CALL db.awaitIndexes(3600)
