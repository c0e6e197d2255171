// Return the topics to which replies shifted from given topics (direct neighbours in the shift graph).
// $foci: texts of terms; a term without shifts gives no row
// Columns: focus, shifts (pairs of a topic to which replies shifted and the number of these replies: ["cake", 3])
UNWIND $foci AS focus
MATCH (t:Term {text: focus})-[s:SHIFTS_TO]->(p:Term)
RETURN focus, collect([p.text, s.count]) AS shifts
