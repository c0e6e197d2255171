// Return a frame, if it is loaded.
// $id: a PropBank frame, such as eat-01
// Columns: id
MATCH (f:Frame {id: $id})
RETURN f.id AS id
