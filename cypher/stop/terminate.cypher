// stop/terminate: End all transactions of a connection.
// $connection: the server's id of the connection
// Columns: message (the server's message about each transaction)
SHOW TRANSACTIONS YIELD transactionId AS id, connectionId
WHERE connectionId = $connection
TERMINATE TRANSACTIONS id YIELD message
RETURN message
