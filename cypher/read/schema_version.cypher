// The version of the store's schema; whether it was imported in bulk and lacks constraints and indexes.
// Columns: version, imported. No row where no schema has been applied yet.
MATCH (s:GraphnegSchema {id: 'graphneg'}) RETURN s.version AS version, s.imported AS imported
