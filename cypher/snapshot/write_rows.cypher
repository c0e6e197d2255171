// Store several hundred rows of a snapshot in one node.
// $id: id of the node
// $part: name of the part that contains the rows
// $number: number of the node within the part
// $rows: the rows, as JSON
// Columns: id
MERGE (p:SnapshotPart {id: $id})
SET p.part = $part, p.number = $number, p.rows = $rows
RETURN p.id AS id
