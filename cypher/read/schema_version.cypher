// Return the version of the store's schema; no row where no schema has been applied yet.
// Columns: version, imported (true after a bulk import, until the constraints and indexes are created)
MATCH (s:GraphnegSchema {id: 'graphneg'}) RETURN s.version AS version, s.imported AS imported
