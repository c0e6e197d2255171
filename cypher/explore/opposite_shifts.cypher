// opposite_shifts: Shifts between two topics that are opposites of each other.
// $limit (20): maximum number of rows; the most frequent come first
// Columns: focus (topic that replies take up), perspective (topic to which they shift), count (number of post-reply
//          pairs), relations (ConceptNet relations between the two topics)
MATCH (f:Term {opposites: true})-[s:SHIFTS_TO]->(p:Term {opposites: true})
MATCH (f)-[o:OPPOSITE]-(p)
WITH DISTINCT f.text AS focus, p.text AS perspective, s.count AS count, o.relation AS relation
ORDER BY relation
WITH focus, perspective, count, collect(relation) AS relations
ORDER BY count DESC, focus, perspective
LIMIT $limit
RETURN focus, perspective, count, relations
