// The frames of the store, as lists that are compared with those of another time.
// Columns: lemma, frames (lists of id, roles, classes, aliases)
MATCH (f:Frame)
RETURN f.lemma AS lemma, collect([f.id, f.roles, f.classes, f.aliases]) AS frames
