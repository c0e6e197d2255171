// The rows of a snapshot that the store keeps. $part: what they are of
// Columns: number, rows (JSON)
MATCH (p:SnapshotPart {part: $part})
RETURN p.number AS number, p.rows AS rows
ORDER BY number
