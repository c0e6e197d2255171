// Count how many replies shift to each term, regardless of their focus.
// No parameters.
// Columns: perspective, count
MATCH (:Term)-[s:SHIFTS_TO]->(p:Term)
RETURN p.text AS perspective, sum(s.count) AS count
