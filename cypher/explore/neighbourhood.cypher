// neighbourhood: The most frequent shifts from and to a topic, each with example utterances.
// $focus: topic whose shifts are listed
// $limit (12): maximum number of shifts in each direction
// $examples (3): maximum number of post-reply pairs to list for each shift
// Columns: focus (topic that replies take up), perspective (topic to which they shift), count (number of post-reply
//          pairs), examples (lists of reply id, corpus, post, reply)
MATCH (t:Term {text: $focus})
CALL (t) {
  MATCH (t)-[s:SHIFTS_TO]->(p:Term)
  WITH t, p, s.count AS count, p.text AS name
  ORDER BY count DESC, name
  LIMIT $limit
  RETURN t AS f, p, count, 0 AS side
  UNION ALL
  MATCH (f:Term)-[s:SHIFTS_TO]->(t)
  WHERE f <> t
  WITH f, t, s.count AS count, f.text AS name
  ORDER BY count DESC, name
  LIMIT $limit
  RETURN f, t AS p, count, 1 AS side
}
OPTIONAL MATCH (f)<-[:FOCUS]-(reply)-[:PERSPECTIVE]->(p)
OPTIONAL MATCH (post:Utterance)-[:NEXT|HAS_RESPONSE]->(reply)
OPTIONAL MATCH (d:Dialogue)-[:HAS_TURN]->(post)
WITH side, f.text AS focus, p.text AS perspective, count, d.order AS dialogue_order, post.turn AS turn, reply.id AS id,
     d.corpus AS corpus, post.text AS before, reply.text AS after
ORDER BY dialogue_order, turn, id
WITH side, focus, perspective, count, collect([id, corpus, before, after]) AS found
WITH side, focus, perspective, count, [e IN found WHERE e[0] IS NOT NULL][..$examples] AS examples
ORDER BY side, count DESC, focus, perspective
RETURN focus, perspective, count, examples
