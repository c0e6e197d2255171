// The entries of the lexicon that were loaded into the store.
// Columns: table, cells
MATCH (e:LexiconEntry)
WITH e.id AS id, e.table AS table, e.cells AS cells
ORDER BY id
RETURN table, cells
