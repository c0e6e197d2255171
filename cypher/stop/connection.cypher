// stop/connection: Return the connection on which this statement itself runs.
// $mark: a text that no other statement contains; the caller appends it to this statement as a comment
// Columns: connection (its id on the server)
SHOW TRANSACTIONS YIELD connectionId, currentQuery
WHERE currentQuery CONTAINS $mark
RETURN connectionId AS connection
