// Write ConceptNet edges between terms, and mark the terms as having opposites.
// $opposites: maps of start and end (texts of terms in the store), start_kind and end_kind (noun kinds of the terms),
//   modified_kinds (kinds of things for which the terms are opposites), relation, weight, source and language. They are
//   sorted, so that concurrent transactions lock terms in the same order.
// Columns: opposites (number of edges written)
UNWIND $opposites AS row
MATCH (a:Term {text: row.start})
MATCH (b:Term {text: row.end})
MERGE (a)-[o:OPPOSITE {relation: row.relation, language: row.language}]->(b)
SET o.weight = row.weight, o.source = row.source, o.modified_kinds = row.modified_kinds,
  a.opposites = true, b.opposites = true,
  a.kind = row.start_kind, b.kind = row.end_kind
RETURN count(*) AS opposites
