// Return the rows of one part of the snapshot, sorted by number.
// $part: name of the part
// Columns: number (of the node that stores the rows), rows (as JSON)
MATCH (p:SnapshotPart {part: $part})
RETURN p.number AS number, p.rows AS rows
ORDER BY number
