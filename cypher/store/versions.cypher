// The tokens that say which version of the content the store has: one differs after each change.
// Columns: id, token
MATCH (v:ContentVersion)
RETURN v.id AS id, v.token AS token
ORDER BY id, token
