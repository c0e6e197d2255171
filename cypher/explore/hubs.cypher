// hubs: The topics with the most shifts, counting shifts from and to the topic.
// $limit (20): maximum number of rows
// Columns: topic, outgoing (number of post-reply pairs that shift from the topic), incoming (number of pairs that shift
//          to it), perspectives (number of topics to which replies shift from it), foci (number of topics from which
//          replies shift to it)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
UNWIND [{topic: f.text, outgoing: s.count, incoming: 0, perspectives: 1, foci: 0},
        {topic: p.text, outgoing: 0, incoming: s.count, perspectives: 0, foci: 1}] AS end
WITH end.topic AS topic, sum(end.outgoing) AS outgoing, sum(end.incoming) AS incoming,
     sum(end.perspectives) AS perspectives, sum(end.foci) AS foci
WITH topic, outgoing, incoming, perspectives, foci, outgoing + incoming AS pairs
ORDER BY pairs DESC, topic
LIMIT $limit
RETURN topic, outgoing, incoming, perspectives, foci
