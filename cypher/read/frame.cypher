// Return a frame; no row if the frame was not loaded.
// $id: id of a PropBank frame, such as eat-01
// Columns: id
MATCH (f:Frame {id: $id})
RETURN f.id AS id
