// The version of the store's schema.
// Columns: version. No row where no schema has been applied yet.
MATCH (s:GraphnegSchema {id: 'graphneg'}) RETURN s.version AS version
