// Count how many replies shift to each term (their perspective), regardless of the term from which they shift (focus).
// No parameters.
// Columns: perspective (text of the term), count (number of replies that shift to the term)
MATCH (:Term)-[s:SHIFTS_TO]->(p:Term)
RETURN p.text AS perspective, sum(s.count) AS count
