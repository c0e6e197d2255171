// Keeps what a parser made of texts. $parses: {id, source, penman, spans, warnings}, sorted
// Columns: parses
UNWIND $parses AS row
MERGE (p:Parse {id: row.id})
SET p.source = row.source, p.penman = row.penman, p.spans = row.spans, p.warnings = row.warnings
RETURN count(*) AS parses
