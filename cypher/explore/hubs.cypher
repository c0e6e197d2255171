// hubs: The topics with the most shifts from them and to them.
// $limit (20): maximum number of rows
// Columns: topic, outgoing and incoming (number of post-reply pairs that shift from and to it), perspectives and foci
//          (number of topics that they shift to and from)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
UNWIND [{topic: f.text, outgoing: s.count, incoming: 0, perspectives: 1, foci: 0},
        {topic: p.text, outgoing: 0, incoming: s.count, perspectives: 0, foci: 1}] AS end
WITH end.topic AS topic, sum(end.outgoing) AS outgoing, sum(end.incoming) AS incoming,
     sum(end.perspectives) AS perspectives, sum(end.foci) AS foci
WITH topic, outgoing, incoming, perspectives, foci, outgoing + incoming AS pairs
ORDER BY pairs DESC, topic
LIMIT $limit
RETURN topic, outgoing, incoming, perspectives, foci
