// Store some rows of a snapshot in a node. A snapshot is a file with data about the whole corpus, such as the counts of
// shifts. It is loaded into stores that contain only some of the dialogues.
// $id: id of the node
// $part: name of the part of the snapshot that contains the rows, such as shifts
// $number: number of the node among the nodes with rows of this part
// $rows: the rows, as JSON
// Columns: id
MERGE (p:SnapshotPart {id: $id})
SET p.part = $part, p.number = $number, p.rows = $rows
RETURN p.id AS id
