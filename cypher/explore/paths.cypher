// paths: Paths in the shift graph from one topic to another, with at most two topics in between.
// $start: first topic
// $end: last topic
// $least (1): minimum count of each shift on a path. The count is the number of post-reply pairs with this shift.
// $limit (20): maximum number of rows. Paths are sorted by the count of their rarest shift, highest first, and then by
//   length, shortest first.
// Columns: topics (from start to end), counts (number of post-reply pairs for each shift on the path)
MATCH (a:Term {text: $start})
MATCH (z:Term {text: $end})
// Match paths with one, two and three shifts separately. A single pattern for paths of any length would also follow the
// many paths of a dense graph that visit a topic twice.
CALL (a, z) {
  MATCH (a)-[s:SHIFTS_TO]->(z)
  WHERE s.count >= $least
  RETURN [a.text, z.text] AS topics, [s.count] AS counts
  UNION ALL
  MATCH (a)-[s:SHIFTS_TO]->(b:Term)-[t:SHIFTS_TO]->(z)
  WHERE s.count >= $least AND t.count >= $least AND b <> a AND b <> z
  RETURN [a.text, b.text, z.text] AS topics, [s.count, t.count] AS counts
  UNION ALL
  MATCH (a)-[s:SHIFTS_TO]->(b:Term)-[t:SHIFTS_TO]->(c:Term)-[u:SHIFTS_TO]->(z)
  WHERE s.count >= $least AND t.count >= $least AND u.count >= $least
    AND b <> a AND b <> z AND c <> a AND c <> z AND b <> c
  RETURN [a.text, b.text, c.text, z.text] AS topics, [s.count, t.count, u.count] AS counts
}
WITH topics, counts, size(counts) AS steps,
     // Sort the paths by the count of their rarest shift first.
     reduce(least = counts[0], c IN counts | CASE WHEN c < least THEN c ELSE least END) AS rarest,
     // Sort paths with equal counts and lengths by their topics, joined into one text.
     reduce(names = '', t IN topics | names + t + '|') AS names
ORDER BY rarest DESC, steps, names
LIMIT $limit
RETURN topics, counts
