// disengage: Takes the content out: drops a question, empties the deepest utterance, or prunes a detail.
// category: C-follow
// source: DEAM (Ghazarian et al. 2022), decreased engagement
//
// A question that is one :sntN of several is dropped; one that is all of its utterance gives way to a
// word like "okay", and so does the dialogue's deepest utterance. Details are modifiers and far
// arguments of what itself hangs below an ARG, op or mod; :opN only where two others stay.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH i, t.turn AS turn, n, n.k AS k
ORDER BY i, turn, k
WITH i, turn, collect(n) AS ns
WITH i, turn, ns, reduce(depths = [], n IN ns | depths + [coalesce(depths[n.up], -1) + 1]) AS depths,
     [n IN ns WHERE n.concept = 'amr-unknown' OR n.value = 'interrogative' | n.k] AS asked,
     [n IN ns WHERE n.up = 0] AS below,
     [n IN ns WHERE n.up > 0 AND n.concept IS NOT NULL AND (n.role IN ['mod', 'time', 'location', 'manner', 'degree',
       'purpose', 'duration', 'frequency', 'direction', 'source', 'destination', 'path', 'instrument', 'accompanier',
       'topic', 'extent', 'beneficiary', 'condition', 'concession', 'ARG2', 'ARG3', 'ARG4']
       OR n.role STARTS WITH 'op')] AS details
WITH i, turn, ns, below, asked, reduce(most = 0, d IN depths | CASE WHEN d > most THEN d ELSE most END) AS depth,
     [n IN below WHERE n.role STARTS WITH 'snt'] AS sentences,
     [c IN details WHERE CASE
         WHEN c.role STARTS WITH 'op' THEN ns[c.up].concept IN ['and', 'or']
           AND size([o IN details WHERE o.up = c.up AND o.role STARTS WITH 'op']) > 2
         WHEN NOT (ns[c.up].role IN ['ARG0', 'ARG1', 'ARG2', 'ARG3', 'ARG4', 'mod'] OR ns[c.up].role STARTS WITH 'op')
           THEN false
         WHEN c.role STARTS WITH 'ARG' THEN NOT ns[c.up].concept ENDS WITH '-91'
           AND any(n IN ns WHERE n.up = c.up AND n.role = 'ARG1')
         ELSE true END
       AND NOT any(k IN asked WHERE k >= c.k AND k <= c.last) | c.k] AS details
WITH i, turn, ns, below, depth, details, size(asked) > 0 AS asks, size(sentences) AS parts,
     [s IN sentences WHERE any(k IN asked WHERE k > s.k AND k <= s.last) | s.k] AS questions
WITH i, collect({turn: turn, top: ns[0], below: [n IN below | n.k], depth: depth, details: details,
       word: ['okay', 'hmm', 'oh', 'ah'][(turn + size(ns)) % 4],
       questions: CASE WHEN size(questions) < parts THEN questions ELSE [] END,
       asks: asks AND size(questions) = parts}) AS graphs
WITH i, graphs, reduce(deep = {turn: -1, depth: 0}, g IN graphs | CASE WHEN g.depth > deep.depth
       OR g.depth = deep.depth AND g.turn < deep.turn THEN g ELSE deep END) AS deep
UNWIND graphs AS g
WITH i, g, g.top AS node, CASE WHEN g.asks OR g.turn = deep.turn THEN g.top END AS top
OPTIONAL MATCH (top)-[r:ROLE {reentrant: true}]-(:AmrNode)
WITH i, g, node.amr AS amr, top, count(r) AS again
UNWIND [k IN g.questions + g.details | {amr: amr, k: k, op: 'drop'}]
  + CASE WHEN top IS NULL OR again > 0 THEN [] ELSE
      [k IN g.below | {amr: amr, k: k, op: 'drop', site: amr + '>' + g.word}]
      + [{amr: amr, k: 0, op: 'set', concept: g.word, site: amr + '>' + g.word}] END AS edit
RETURN $dialogues[i].id AS dialogue, collect(edit) AS edits
