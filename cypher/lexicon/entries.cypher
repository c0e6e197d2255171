// Return the lexicon entries that were loaded into the store, sorted by id.
// Columns: table, cells
MATCH (e:LexiconEntry)
WITH e.id AS id, e.table AS table, e.cells AS cells
ORDER BY id
RETURN table, cells
