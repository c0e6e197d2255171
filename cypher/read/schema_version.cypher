// Return the version of the store's schema; no row if no schema has been applied yet.
// Columns: version, imported (true after a bulk import, as long as the constraints and indexes are not created)
MATCH (s:GraphnegSchema {id: 'graphneg'}) RETURN s.version AS version, s.imported AS imported
