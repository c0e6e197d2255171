// Return the marks of the store's content. After each change, at least one mark has a new token.
// Columns: id, token
MATCH (v:ContentVersion)
RETURN v.id AS id, v.token AS token
ORDER BY id, token
