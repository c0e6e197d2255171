// disengage: Takes the content out: drops a question, empties an utterance, or prunes what was asked for.
// category: C-follow
// source: DEAM (Ghazarian et al. 2022, section 3), decreased engagement
// target: dialogue
//
// Before: A: Who is going to feed your cat?  B: My sister promised to come every morning.  A: Call me when you arrive.
// After:  A: Who is going to feed your cat?  B: Oh.  A: Call me when you arrive.
// Graph:  (p / promise-01 :ARG0 (p2 / person ...) :ARG2 (c / come-01 ...)) => (o / oh)
//
// The three kinds of edits are DEAM's. A question is dropped from a turn of several sentences, an utterance is emptied
// to a word like "okay", or a detail is pruned.
//
// Departures from DEAM:
// - A question is dropped only where the dialogue goes on: the next turn then answers a question that nobody asked.
// - Only answers to questions and the deepest utterance of a dialogue are emptied: other turns would not be missed.
//   Of these, only the deepest of each eight turns are sites: "Hmm." for every answer is easy to tell from talk.
// - An answer is never emptied to "okay", which can mean yes.
// - Details are pruned only where the turn before asked for their role, and conditions everywhere: without another
//   detail an utterance stays right.
// - The last turn of a dialogue may be short, so that all sites are for negatives of whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// The top of each graph, and details such as a time, a place or a reason.
WHERE n.k = 0 OR n.detail
WITH d.id AS dialogue, t.turn AS turn, collect(n) AS ns
WITH dialogue, turn, [n IN ns WHERE n.k = 0][0] AS top, [n IN ns WHERE n.detail] AS details
ORDER BY dialogue, turn
WITH dialogue, collect({turn: turn, top: top, details: details, depth: top.depth}) AS graphs
WITH dialogue, graphs, graphs[size(graphs) - 1].turn AS end,
     // The deepest graph, the first of several. A depth of 1 or less has nothing to lose.
     reduce(deep = {depth: 1}, g IN graphs |
       CASE WHEN g.depth > deep.depth THEN g ELSE deep END) AS deep
WITH dialogue, graphs, end,
     [g IN graphs WHERE g.top.tied IS NULL AND (g.turn = deep.turn
       OR g.depth > 0 AND g.top.only_asks IS NULL
       AND any(p IN graphs WHERE p.turn = g.turn - 1 AND size(coalesce(p.top.asks, [])) > 0))
       | {turn: g.turn, depth: g.depth}] AS full
UNWIND graphs AS g
WITH dialogue, g, g.top AS top, g.top.amr AS amr, g.turn < end AS goes_on, full,
     // The number of turns that are emptied before this one; a deeper turn says more.
     size([f IN full WHERE f.depth > g.depth OR f.depth = g.depth AND f.turn < g.turn]) AS deeper,
     1 + (size(graphs) - 1) / 8 AS most,
     // The roles that the turn before asks for: "When does it leave?" asks for "time".
     coalesce([p IN graphs WHERE p.turn = g.turn - 1 | p.top.asks][0], []) AS wanted
WITH dialogue, amr, top, wanted,
     any(f IN full WHERE f.turn = g.turn) AND deeper < most AS emptied,
     // "I leave for home at noon" after "When do you leave?" becomes "I leave for home".
     [n IN g.details WHERE n.role IN wanted + ['condition'] | n.k] AS details,
     // "Yes. Will you go?" becomes "Yes.", where an answer follows.
     CASE WHEN goes_on THEN coalesce(top.questions, []) ELSE [] END AS questions,
     CASE WHEN size(wanted) = 0 THEN ['okay', 'hmm', 'oh', 'ah']
       ELSE ['hmm', 'oh', 'ah', 'hmm'] END[(g.turn + top.last + 1) % 4] AS word
WITH dialogue, amr, questions, details, word, amr + '>' + word AS site,
     CASE WHEN emptied THEN coalesce(top.parts, []) + [0] ELSE [] END AS ks
UNWIND
  // Each question and each detail is a site of its own.
  [k IN questions | {amr: amr, k: k, op: 'drop'}]
  + [k IN details | {amr: amr, k: k, op: 'drop'}]
  // One site empties the graph: it drops all branches of the top, then changes its concept.
  + [k IN ks | CASE WHEN k > 0 THEN {amr: amr, k: k, op: 'drop', site: site}
      ELSE {amr: amr, k: 0, op: 'set', concept: word, site: site} END] AS edit
RETURN dialogue, collect(edit) AS edits
