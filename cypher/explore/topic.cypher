// topic: Counts of the shifts from and to one topic.
// $focus: topic whose shifts are counted
// Columns: topic, outgoing (number of post-reply pairs that shift from the topic), incoming (number of pairs that shift
//          to it), perspectives (number of topics to which replies shift from it), foci (number of topics from which
//          replies shift to it), stays (number of pairs that shift from the topic to itself; outgoing and incoming also
//          count these pairs), opposites (opposites of the topic that are also topics in the shift graph)
MATCH (t:Term {text: $focus})
OPTIONAL MATCH (t)-[s:SHIFTS_TO]->(p:Term)
WITH t, sum(s.count) AS outgoing, count(p) AS perspectives,
     sum(CASE WHEN p.text = t.text THEN s.count ELSE 0 END) AS stays
OPTIONAL MATCH (f:Term)-[r:SHIFTS_TO]->(t)
WITH t, outgoing, perspectives, stays, sum(r.count) AS incoming, count(f) AS foci
// A term without shifts is not a topic of the shift graph.
WHERE perspectives + foci > 0
OPTIONAL MATCH (t)-[:OPPOSITE]-(o:Term)
// List only opposites that are topics as well: for "hot", list "cold" only if some reply shifts to or from "cold".
WHERE EXISTS { MATCH (o)-[:SHIFTS_TO]-(:Term) }
WITH DISTINCT t.text AS topic, outgoing, incoming, perspectives, foci, stays, o.text AS opposite
ORDER BY opposite
RETURN topic, outgoing, incoming, perspectives, foci, stays, collect(opposite) AS opposites
