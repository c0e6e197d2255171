// Check whether a PropBank frame is in the store; no row if it is not.
// $id: id of a PropBank frame, such as eat-01
// Columns: id
MATCH (f:Frame {id: $id})
RETURN f.id AS id
