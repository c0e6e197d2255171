// Return all frames, to compute a digest of the store's content.
// Columns: lemma, frames (lists of id, roles, classes, aliases)
MATCH (f:Frame)
RETURN f.lemma AS lemma, collect([f.id, f.roles, f.classes, f.aliases]) AS frames
