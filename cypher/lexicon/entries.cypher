// Return the lexicon entries that were loaded into the store, sorted by id.
// Columns: table (name of the lexicon table), cells (the cells of one row)
MATCH (e:LexiconEntry)
WITH e.id AS id, e.table AS table, e.cells AS cells
ORDER BY id
RETURN table, cells
