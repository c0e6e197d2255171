// Keeps rows of a snapshot, some hundred to a node. $id; $part: what they are of; $number: their place; $rows: JSON
// Columns: id
MERGE (p:SnapshotPart {id: $id})
SET p.part = $part, p.number = $number, p.rows = $rows
RETURN p.id AS id
