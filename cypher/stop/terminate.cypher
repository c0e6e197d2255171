// stop/terminate: Terminate all transactions of a connection.
// $connection: id of the connection on the server
// Columns: message (text that the server returns for each transaction)
SHOW TRANSACTIONS YIELD transactionId AS id, connectionId
WHERE connectionId = $connection
TERMINATE TRANSACTIONS id YIELD message
RETURN message
