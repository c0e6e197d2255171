// hubs: The topics that the most shifts start from and lead to.
// $limit (20): rows at most
// Columns: topic, outgoing and incoming (pairs that shift from and to it), perspectives and foci (different
//          topics that they lead to and come from)
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
UNWIND [{topic: f.text, outgoing: s.count, incoming: 0, perspectives: 1, foci: 0},
        {topic: p.text, outgoing: 0, incoming: s.count, perspectives: 0, foci: 1}] AS end
WITH end.topic AS topic, sum(end.outgoing) AS outgoing, sum(end.incoming) AS incoming,
     sum(end.perspectives) AS perspectives, sum(end.foci) AS foci
WITH topic, outgoing, incoming, perspectives, foci, outgoing + incoming AS pairs
ORDER BY pairs DESC, topic
LIMIT $limit
RETURN topic, outgoing, incoming, perspectives, foci
