// Mark the content of the store as changed. This runs in the same transaction as the change.
// The store has several such marks, and each process that opens it writes one of them, so that processes on different
// machines seldom wait for each other.
// $slot: id of the mark to write
// $token: a new random text
MERGE (v:ContentVersion {id: $slot})
SET v.token = $token
RETURN count(v) AS versions
