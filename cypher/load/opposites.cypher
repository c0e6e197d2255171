// Writes ConceptNet edges between terms that are there; terms that have some are flagged.
// $opposites: {start, end, start_kind, end_kind, said_of, relation, weight, source, language}, sorted
// Columns: opposites
UNWIND $opposites AS row
MATCH (a:Term {text: row.start})
MATCH (b:Term {text: row.end})
MERGE (a)-[o:OPPOSITE {relation: row.relation, language: row.language}]->(b)
SET o.weight = row.weight, o.source = row.source, o.said_of = row.said_of, a.opposites = true, b.opposites = true,
  a.kind = row.start_kind, b.kind = row.end_kind
RETURN count(*) AS opposites
