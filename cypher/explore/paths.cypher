// paths: Ways from one topic to another, over two topics at most.
// $start: the topic that they begin with
// $end: the topic that they lead to
// $least (1): only over shifts of so many pairs
// $limit (20): rows at most; those whose rarest shift is the most frequent come first, the shorter before the longer
// Columns: topics (from start to end), counts (pairs of each shift)
MATCH (a:Term {text: $start})
MATCH (z:Term {text: $end})
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
WITH topics, counts, size(counts) AS steps, reduce(least = counts[0], c IN counts | CASE WHEN c < least THEN c ELSE least END) AS rarest,
     reduce(names = '', t IN topics | names + t + '|') AS names
ORDER BY rarest DESC, steps, names
LIMIT $limit
RETURN topics, counts
