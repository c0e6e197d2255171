// Write lexicon entries. An entry replaces an existing entry with the same id.
// $entries: maps of id, table (name of the lexicon table) and cells (the cells of one row), sorted by id
// Columns: entries (number of entries written)
UNWIND $entries AS row
MERGE (e:LexiconEntry {id: row.id})
SET e.table = row.table, e.cells = row.cells
RETURN count(*) AS entries
