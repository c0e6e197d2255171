// stop/connection: Return the connection that this very statement runs on.
// $mark: a text that no other statement contains; the caller appends it to this one as a comment
// Columns: connection (the server's id)
SHOW TRANSACTIONS YIELD connectionId, currentQuery
WHERE currentQuery CONTAINS $mark
RETURN connectionId AS connection
