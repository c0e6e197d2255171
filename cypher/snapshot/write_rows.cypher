// Store some hundred rows of a snapshot in one node.
// $id: id of the node
// $part: name of the part that the rows belong to
// $number: position of the node in its part
// $rows: JSON text
// Columns: id
MERGE (p:SnapshotPart {id: $id})
SET p.part = $part, p.number = $number, p.rows = $rows
RETURN p.id AS id
