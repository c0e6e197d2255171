// Return a page of the PropBank frames, sorted by id.
// $after: id of the last frame of the previous page; '' for the first page
// $limit: maximum number of frames
// Columns: id, lemma, roles, descriptions, aliases
MATCH (f:Frame)
WHERE f.id > $after
RETURN f.id AS id, f.lemma AS lemma, f.roles AS roles, f.descriptions AS descriptions, f.aliases AS aliases
ORDER BY id
LIMIT $limit
