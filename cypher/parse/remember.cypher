// Cache the results of a parser, so that the same texts need not be parsed again.
// $parses: maps of id, source (name and version of the parser), penman, spans and warnings, sorted by id
// Columns: parses (number of results written)
UNWIND $parses AS row
MERGE (p:Parse {id: row.id})
SET p.source = row.source, p.penman = row.penman, p.spans = row.spans, p.warnings = row.warnings
RETURN count(*) AS parses
