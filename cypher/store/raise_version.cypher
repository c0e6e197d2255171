// Mark the content of the store as changed, in the transaction that changes it.
// Each open store writes one of a few nodes, so that writers on different machines seldom wait for each other.
// $slot: id of the node to write
// $token: a new random text
// Columns: versions (1)
MERGE (v:ContentVersion {id: $slot})
SET v.token = $token
RETURN count(v) AS versions
