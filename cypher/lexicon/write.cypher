// Write lexicon entries. An entry replaces an older one of the same id.
// $entries: maps of id, table and cells, sorted by id
// Columns: entries (number written)
UNWIND $entries AS row
MERGE (e:LexiconEntry {id: row.id})
SET e.table = row.table, e.cells = row.cells
RETURN count(*) AS entries
