// Return the rows of one part of the snapshot, in their order.
// $part: name of the part
// Columns: number, rows (JSON)
MATCH (p:SnapshotPart {part: $part})
RETURN p.number AS number, p.rows AS rows
ORDER BY number
