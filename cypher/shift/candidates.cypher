// Return the direct neighbours of terms in the shift graph: what replies moved to from each.
// $foci: texts of terms; a term without shifts has no row
// Columns: focus, shifts (lists of perspective, count)
UNWIND $foci AS focus
MATCH (t:Term {text: focus})-[s:SHIFTS_TO]->(p:Term)
RETURN focus, collect([p.text, s.count]) AS shifts
