// Nothing is left of the shift graph that was removed.
// Columns: id
MATCH (g:ShiftGraph {id: 'shift'})
SET g.forgetting = false
RETURN g.id AS id
