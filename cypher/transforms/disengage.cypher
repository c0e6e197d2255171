// disengage: Takes the content out: drops a question, empties an utterance, or prunes what was asked for.
// category: C-follow
// source: DEAM (Ghazarian et al. 2022), decreased engagement
// target: dialogue
//
// A question that is one :sntN of several is dropped where the dialogue goes on. An answer to a
// question and the dialogue's deepest utterance give way to a word like "okay"; where neither is,
// nothing would be missed. A detail is pruned where the turn before asked for its role, and a
// condition everywhere: without another detail an utterance stays as right as it was. A yes/no
// question is never answered by "okay", which is a yes. All of them harm the turns after them,
// while the last word of a dialogue may be short: the sites are for negatives of whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.k = 0 OR n.detail
WITH d.id AS dialogue, t.turn AS turn, collect(n) AS ns
WITH dialogue, turn, [n IN ns WHERE n.k = 0][0] AS top, [n IN ns WHERE n.detail] AS details
ORDER BY dialogue, turn
WITH dialogue, collect({turn: turn, top: top, details: details, depth: top.depth}) AS graphs
WITH dialogue, graphs, graphs[size(graphs) - 1].turn AS end,
     reduce(deep = {depth: 1}, g IN graphs |
       CASE WHEN g.depth > deep.depth THEN g ELSE deep END) AS deep
UNWIND graphs AS g
WITH dialogue, g, g.top AS top, g.top.amr AS amr, g.turn < end AS goes_on,
     g.turn = deep.turn AS deepest,
     coalesce([p IN graphs WHERE p.turn = g.turn - 1 | p.top.asks][0], []) AS wanted
WITH dialogue, amr, top, wanted,
     [n IN g.details WHERE n.role IN wanted + ['condition'] | n.k] AS details,
     CASE WHEN goes_on THEN coalesce(top.questions, []) ELSE [] END AS questions,
     top.tied IS NULL AND (deepest OR size(wanted) > 0 AND top.depth > 0
       AND top.only_asks IS NULL) AS emptied,
     CASE WHEN size(wanted) = 0 THEN ['okay', 'hmm', 'oh', 'ah']
       ELSE ['hmm', 'oh', 'ah', 'hmm'] END[(g.turn + top.last + 1) % 4] AS word
WITH dialogue, amr, questions, details, word, amr + '>' + word AS site,
     CASE WHEN emptied THEN coalesce(top.parts, []) + [0] ELSE [] END AS ks
UNWIND [k IN questions | {amr: amr, k: k, op: 'drop'}]
  + [k IN details | {amr: amr, k: k, op: 'drop'}]
  + [k IN ks | CASE WHEN k > 0 THEN {amr: amr, k: k, op: 'drop', site: site}
      ELSE {amr: amr, k: 0, op: 'set', concept: word, site: site} END] AS edit
RETURN dialogue, collect(edit) AS edits
