// disengage: Takes the content out: drops a question, empties an utterance, or prunes what was asked for.
// category: C-follow
// source: DEAM (Ghazarian et al. 2022), decreased engagement
//
// A question that is one :sntN of several is dropped where the dialogue goes on. An answer to a question and the
// dialogue's deepest utterance give way to a word like "okay"; where neither is, nothing would be missed. A
// detail is pruned where the turn before asked for its role, and a condition everywhere: without another detail
// an utterance stays as right as it was. A yes/no question is never answered by "okay", which is a yes.
// A question that goes, and a word for an utterance that nobody asked for, harm the turns after them: these
// sites are for negatives of whole dialogues.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (a:Amr {id: t.amr})
MATCH (n:AmrNode {amr: t.amr})
WITH i, t.turn AS turn, t.amr AS amr, a.depth AS depth, collect(n {.k, .last, .up, .role, .concept, .value, .frame}) AS ns
WITH i, turn, amr, depth, ns, [n IN ns WHERE n.up = 0] AS below,
     [n IN ns WHERE CASE WHEN n.concept IS NULL THEN n.value = 'interrogative' ELSE n.concept = 'amr-unknown' END] AS asked,
     [n IN ns WHERE n.frame AND NOT n.concept ENDS WITH '-91' | n.k] AS framed
WITH i, turn, amr, depth, ns, asked, framed, [n IN below WHERE n.role STARTS WITH 'snt'] AS sentences,
     CASE WHEN size(below) = 0 THEN [] ELSE [k IN range(1, size(ns) - 1) WHERE any(n IN below WHERE n.k = k)] END AS under
WITH i, turn, amr, size(ns) AS amount, depth, under, [a IN asked | a.role] AS roles, size(sentences) AS parts,
     [n IN ns WHERE n.role IN ['time', 'location', 'manner', 'purpose', 'duration', 'frequency', 'direction', 'source',
         'destination', 'instrument', 'accompanier', 'topic', 'beneficiary', 'condition', 'poss']
       AND n.concept IS NOT NULL AND CASE WHEN n.up = 0 THEN true ELSE n.up IN under END
       AND CASE n.role WHEN 'time' THEN true WHEN 'location' THEN true ELSE n.up IN framed END
       AND NOT any(a IN asked WHERE a.k >= n.k AND a.k <= n.last)
       | {k: n.k, role: n.role}] AS details,
     [s IN sentences WHERE any(a IN asked WHERE a.k > s.k AND a.k <= s.last) | s.k] AS questions
WITH i, turn, amr, amount, depth, under, roles, parts, details, questions
ORDER BY i, turn
WITH i, collect({turn: turn, amr: amr, below: under, depth: depth, details: details, roles: roles,
       n: turn + amount, questions: CASE WHEN size(questions) < parts THEN questions ELSE [] END,
       asks: size(roles) > 0 AND size(questions) = parts AND amount > 3}) AS graphs
WITH i, graphs, graphs[size(graphs) - 1].turn AS end,
     reduce(deep = {turn: -1, depth: 1}, g IN graphs | CASE WHEN g.depth > deep.depth
       OR g.depth = deep.depth AND g.turn < deep.turn THEN g ELSE deep END) AS deep
UNWIND graphs AS g
WITH i, g, end, deep, coalesce([p IN graphs WHERE p.turn = g.turn - 1 | p.roles][0], []) AS wanted
WITH i, g, g.amr AS amr, CASE WHEN g.turn < end THEN g.questions ELSE [] END AS questions,
     CASE WHEN g.turn = deep.turn THEN true ELSE size(wanted) > 0 AND g.depth > 0 AND NOT g.asks END AS emptied,
     CASE WHEN size(wanted) = 0 THEN 'dialogue' END AS aim,
     CASE WHEN size(wanted) > 0 THEN ['hmm', 'oh', 'ah', 'hmm'][g.n % 4] ELSE ['okay', 'hmm', 'oh', 'ah'][g.n % 4] END AS word,
     [c IN g.details WHERE c.role IN wanted OR c.role = 'condition' | c.k] AS details
WHERE emptied OR size(questions) + size(details) > 0
OPTIONAL MATCH (top:AmrNode {amr: amr})-[r:ROLE {reentrant: true}]-(:AmrNode)
WHERE emptied AND top.k = 0
WITH i, g, amr, questions, emptied, word, aim, details, count(r) AS again
UNWIND [k IN questions | {amr: amr, k: k, op: 'drop', target: 'dialogue'}] + [k IN details | {amr: amr, k: k, op: 'drop'}]
  + CASE WHEN emptied AND again = 0 THEN
      [k IN g.below | {amr: amr, k: k, op: 'drop', site: amr + '>' + word, target: aim}]
      + [{amr: amr, k: 0, op: 'set', concept: word, site: amr + '>' + word, target: aim}] ELSE [] END AS edit
RETURN $dialogues[i].id AS dialogue, collect(edit) AS edits
