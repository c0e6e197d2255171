// disengage: Takes the content out: drops a question, empties the deepest utterance, or prunes a detail.
// category: C-follow
// source: DEAM (Ghazarian et al. 2022), section 3.4, decreased engagement
//
// A question that is one :sntN of several is dropped; one that is all of its utterance gives way to a
// word like "okay", and so does the dialogue's deepest utterance. Details are modifiers and far
// arguments of what itself hangs below an ARG, op or mod; :opN only where two others stay.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH i, t.turn AS turn, t.amr AS amr, n, n.k AS k
ORDER BY i, turn, k
WITH i, turn, amr, collect(n) AS ns
WITH i, turn, amr, ns, reduce(depths = [], n IN ns | depths + [coalesce(depths[n.up], -1) + 1]) AS depths,
     [n IN ns WHERE n.concept = 'amr-unknown' OR n.value = 'interrogative'] AS asked,
     [n IN ns WHERE n.up = 0 AND n.role STARTS WITH 'snt'] AS sentences,
     [n IN ns WHERE n.concept IS NOT NULL AND n.up > 0 AND n.role IN ['mod', 'time', 'location', 'manner', 'degree',
       'purpose', 'duration', 'frequency', 'direction', 'source', 'destination', 'path', 'instrument', 'accompanier',
       'topic', 'extent', 'beneficiary', 'condition', 'concession', 'ARG2', 'ARG3', 'ARG4']
       OR n.role STARTS WITH 'op' AND n.concept IS NOT NULL] AS details
WITH i, turn, amr, ns, asked, reduce(most = 0, x IN depths | CASE WHEN x > most THEN x ELSE most END) AS depth,
     [s IN sentences WHERE any(a IN asked WHERE a.k > s.k AND a.k <= s.last)] AS questions, size(sentences) AS parts,
     [c IN details WHERE NOT any(a IN asked WHERE a.k >= c.k AND a.k <= c.last) AND CASE
         WHEN c.role STARTS WITH 'op' THEN ns[c.up].concept IN ['and', 'or']
           AND size([o IN details WHERE o.up = c.up AND o.role STARTS WITH 'op']) > 2
         WHEN ns[c.up].role STARTS WITH 'ARG' OR ns[c.up].role STARTS WITH 'op' OR ns[c.up].role = 'mod' THEN
           NOT c.role STARTS WITH 'ARG' OR NOT ns[c.up].concept ENDS WITH '-91'
             AND any(n IN ns WHERE n.up = c.up AND n.role = 'ARG1')
         ELSE false END | c.k] AS details
WITH i, collect({turn: turn, amr: amr, depth: depth, details: details, word: ['okay', 'hmm', 'oh', 'ah'][(turn + size(ns)) % 4],
       questions: CASE WHEN parts > 1 AND size(questions) < parts THEN [q IN questions | q.k] ELSE [] END,
       asks: size(asked) > 0 AND (parts < 2 OR size(questions) = parts)}) AS graphs
WITH i, graphs, reduce(most = 1, g IN graphs | CASE WHEN g.depth > most THEN g.depth ELSE most END) AS most
WITH i, graphs, [g IN graphs WHERE g.depth = most | g.turn] AS deep
UNWIND graphs AS g
UNWIND [k IN g.questions | {amr: g.amr, k: k, op: 'drop'}]
  + [k IN g.details | {amr: g.amr, k: k, op: 'drop'}]
  + CASE WHEN g.asks OR g.turn = reduce(first = 1000000, x IN deep | CASE WHEN x < first THEN x ELSE first END)
      THEN [{amr: g.amr, k: 0, op: 'wrap', role: 'mod', concept: g.word, site: g.amr + '>' + g.word},
        {amr: g.amr, k: 0, op: 'drop', site: g.amr + '>' + g.word}] ELSE [] END AS edit
RETURN $dialogues[i].id AS dialogue, collect(edit) AS edits
