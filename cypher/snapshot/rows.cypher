// Return the rows of one part of the snapshot, such as its counts of shifts. Several nodes store them in order.
// $part: name of the part
// Columns: number (of the SnapshotPart node that stores the rows), rows (as JSON)
MATCH (p:SnapshotPart {part: $part})
RETURN p.number AS number, p.rows AS rows
ORDER BY number
