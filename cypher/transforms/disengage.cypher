// disengage: Takes the content out: drops a question, empties an utterance, or prunes what was asked for.
// category: C-follow
// source: DEAM (Ghazarian et al. 2022), decreased engagement
//
// A question that is one :sntN of several is dropped where the dialogue goes on; one that is all of its utterance
// gives way to a word like "okay", and so do an answer to a question and the dialogue's deepest utterance. A
// detail is pruned where the turn before asked for its role, and a condition everywhere: without another detail
// an utterance stays as right as it was. A yes/no question is never answered by "okay", which is a yes.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH i, t.turn AS turn, n, n.k AS k
ORDER BY i, turn, k
WITH i, turn, collect(n) AS ns
WITH i, turn, ns, reduce(depths = [], n IN ns | depths + [coalesce(depths[n.up], -1) + 1]) AS depths,
     [n IN ns WHERE n.concept = 'amr-unknown' OR n.value = 'interrogative'] AS asked,
     [n IN ns WHERE n.up = 0] AS below,
     [n IN ns WHERE n.k > 0 AND n.concept IS NOT NULL AND n.role IN ['time', 'location', 'manner', 'purpose', 'duration',
       'frequency', 'direction', 'source', 'destination', 'instrument', 'accompanier', 'topic', 'beneficiary', 'condition',
       'poss', 'ARG1', 'ARG2', 'ARG3', 'ARG4']] AS details
WITH i, turn, ns, depths, below, asked, reduce(most = 0, d IN depths | CASE WHEN d > most THEN d ELSE most END) AS depth,
     [n IN below WHERE n.role STARTS WITH 'snt'] AS sentences,
     [c IN details WHERE depths[c.k] < 3 AND NOT any(a IN asked WHERE a.k >= c.k AND a.k <= c.last)
       AND (c.role IN ['time', 'location', 'condition'] OR ns[c.up].frame AND NOT ns[c.up].concept ENDS WITH '-91')
       AND NOT (c.role STARTS WITH 'ARG' AND c.frame)
       | {k: c.k, role: c.role}] AS details
WITH i, turn, ns, below, depth, details, [a IN asked | a.role] AS roles, size(sentences) AS parts,
     [s IN sentences WHERE any(a IN asked WHERE a.k > s.k AND a.k <= s.last) | s.k] AS questions
WITH i, collect({turn: turn, top: ns[0], below: [n IN below | n.k], depth: depth, details: details, roles: roles,
       n: turn + size(ns), questions: CASE WHEN size(questions) < parts THEN questions ELSE [] END,
       asks: size(roles) > 0 AND size(questions) = parts AND size(ns) > 3}) AS graphs
WITH i, graphs, graphs[size(graphs) - 1].turn AS end,
     reduce(deep = {turn: -1, depth: 1}, g IN graphs | CASE WHEN g.depth > deep.depth
       OR g.depth = deep.depth AND g.turn < deep.turn THEN g ELSE deep END) AS deep
UNWIND graphs AS g
WITH i, g, end, deep, coalesce([p IN graphs WHERE p.turn = g.turn - 1 | p.roles][0], []) AS wanted
WITH i, g, end, g.top AS node, CASE WHEN g.asks OR g.turn = deep.turn OR size(wanted) > 0 AND g.depth > 0 THEN g.top END AS top,
     CASE WHEN size(wanted) > 0 THEN ['hmm', 'oh', 'ah', 'hmm'][g.n % 4] ELSE ['okay', 'hmm', 'oh', 'ah'][g.n % 4] END AS word,
     [c IN g.details WHERE c.role IN wanted OR c.role = 'condition' | c.k] AS details
OPTIONAL MATCH (top)-[r:ROLE {reentrant: true}]-(:AmrNode)
WITH i, g, end, node.amr AS amr, top, word, details, count(r) AS again
UNWIND [k IN CASE WHEN g.turn < end THEN g.questions ELSE [] END + details | {amr: amr, k: k, op: 'drop'}]
  + CASE WHEN top IS NULL OR again > 0 THEN [] ELSE
      [k IN g.below | {amr: amr, k: k, op: 'drop', site: amr + '>' + word}]
      + [{amr: amr, k: 0, op: 'set', concept: word, site: amr + '>' + word}] END AS edit
RETURN $dialogues[i].id AS dialogue, collect(edit) AS edits
