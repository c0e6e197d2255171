// Writes entries of the lexicon; one of the same id takes the older one's place.
// $entries: {id, table, cells}, sorted
// Columns: entries
UNWIND $entries AS row
MERGE (e:LexiconEntry {id: row.id})
SET e.table = row.table, e.cells = row.cells
RETURN count(*) AS entries
