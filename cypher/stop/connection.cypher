// stop/connection: the connection that this very statement runs on
// $mark: a text that stands in no other statement; the caller appends it to this one as a comment
// Columns: connection, the server's id of it
SHOW TRANSACTIONS YIELD connectionId, currentQuery
WHERE currentQuery CONTAINS $mark
RETURN connectionId AS connection
