// Return the ContentVersion nodes. After each change of the store's content, at least one of them has a new token.
// Columns: id, token
MATCH (v:ContentVersion)
RETURN v.id AS id, v.token AS token
ORDER BY id, token
