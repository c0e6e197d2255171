// Mark the content of the store as changed, in the same transaction as the change. The mark is a new random text in a
// ContentVersion node. The store has several of these nodes. Each process that opens the store writes to one of them,
// so that processes on different machines seldom wait for each other.
// $slot: id of the node to which the text is written
// $token: the new random text
// Columns: versions (number of nodes written, always 1)
MERGE (v:ContentVersion {id: $slot})
SET v.token = $token
RETURN count(v) AS versions
