// The 1-hop neighbours of terms in the shift graph: what replies moved to from each.
// $foci: texts of terms
// Columns: focus, shifts (lists of perspective, count); a term that leads nowhere has no row
UNWIND $foci AS focus
MATCH (t:Term {text: focus})-[s:SHIFTS_TO]->(p:Term)
RETURN focus, collect([p.text, s.count]) AS shifts
