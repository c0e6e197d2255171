// Return the tokens that identify the version of the store's content. At least one differs after each change.
// Columns: id, token
MATCH (v:ContentVersion)
RETURN v.id AS id, v.token AS token
ORDER BY id, token
