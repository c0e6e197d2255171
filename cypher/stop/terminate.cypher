// stop/terminate: end all transactions of a connection
// $connection: the server's id of it
// Columns: message, what the server says of each
SHOW TRANSACTIONS YIELD transactionId AS id, connectionId
WHERE connectionId = $connection
TERMINATE TRANSACTIONS id YIELD message
RETURN message
