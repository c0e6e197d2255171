// Return the ContentVersion nodes. With each change of the store's content, one of these nodes gets a new token.
// Columns: id, token
MATCH (v:ContentVersion)
RETURN v.id AS id, v.token AS token
ORDER BY id, token
