// subtree_deletion: Removes content: drops a question, reduces an utterance to one word, or prunes a detail that was asked for.
// category: C-follow
// source: DEAM (Ghazarian et al. 2022, section 3), decreased engagement
// target: dialogue
//
// Before: A: What are you cooking? It smells delicious.  B: I'm making a soup with carrots and onions.
// After:  A: What are you cooking? It smells delicious.  B: Hmm.
// Graph:  (m / make-01 :ARG0 (i / i) :ARG1 (s / soup ...)) => (h / hmm)
//
// The three kinds of edits are those of DEAM. A question is dropped from a turn of several sentences, an utterance is
// emptied, that is, reduced to a word like "okay", or a detail is pruned.
//
// Departures from DEAM:
// - A question is dropped only if another turn follows, which then answers a question that nobody has asked.
// - Only answers to questions and the deepest utterance of a dialogue are emptied, because readers would not miss the
//   content of other turns. For every eight turns of a dialogue, only one of these turns can be emptied, the deepest
//   ones first. If all answers became "Hmm.", the negative would be easy to recognise.
// - An answer is never emptied to "okay", which can mean yes.
// - A detail is pruned only if the previous turn asked for its role. Without any other detail, the utterance would still
//   be right. Conditions are the exception and can always be pruned.
// - The last turn of a dialogue may be short without being wrong. Therefore all sites are for negatives of whole
//   dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// Match the top of each graph, and details such as a time, a place or a reason.
WHERE n.position = 0 OR n.prunable_detail
WITH d.id AS dialogue, t.turn AS turn, collect(n) AS ns
WITH dialogue, turn, [n IN ns WHERE n.position = 0][0] AS top, [n IN ns WHERE n.prunable_detail] AS details
ORDER BY dialogue, turn
WITH dialogue, collect({turn: turn, top: top, details: details, depth: top.depth}) AS graphs
WITH dialogue, graphs, graphs[size(graphs) - 1].turn AS end,
     // Find the deepest graph; of several, the first one. Graphs of a depth of 1 or less are too small to lose content.
     reduce(deep = {depth: 1}, g IN graphs |
       CASE WHEN g.depth > deep.depth THEN g ELSE deep END) AS deep
WITH dialogue, graphs, end,
     // The turns that can be emptied: the deepest one, and answers to questions. A graph whose top takes part in a
     // reentrancy is excluded, because the mention would be lost. An answer must have content to lose, and must not
     // consist of questions only.
     [g IN graphs WHERE g.top.reentrant_top IS NULL AND (g.turn = deep.turn
       OR g.depth > 0 AND g.top.only_questions IS NULL
       AND any(p IN graphs WHERE p.turn = g.turn - 1 AND size(coalesce(p.top.asked_roles, [])) > 0))
       | {turn: g.turn, depth: g.depth}] AS full
UNWIND graphs AS g
WITH dialogue, g, g.top AS top, g.top.amr AS amr, g.turn < end AS goes_on, full,
     // The number of turns that are emptied before this one, because their graphs are deeper.
     size([f IN full WHERE f.depth > g.depth OR f.depth = g.depth AND f.turn < g.turn]) AS deeper,
     // The maximum number of turns to empty: one in a dialogue of up to eight turns, two in one of up to sixteen, ...
     1 + (size(graphs) - 1) / 8 AS most,
     // The roles that the previous turn asks for: "When does it leave?" asks for "time".
     coalesce([p IN graphs WHERE p.turn = g.turn - 1 | p.top.asked_roles][0], []) AS wanted
WITH dialogue, amr, top, wanted,
     // Whether the turn can be emptied: it is one of the turns found above, and it is among the deepest of these.
     any(f IN full WHERE f.turn = g.turn) AND deeper < most AS emptied,
     // The details that can be pruned. After "When do you leave?", "I leave for home at noon" becomes "I leave for home".
     [n IN g.details WHERE n.role IN wanted + ['condition'] | n.position] AS details,
     // The questions that can be dropped. "Yes. Will you go?" becomes "Yes." if another turn follows.
     CASE WHEN goes_on THEN coalesce(top.question_sentences, []) ELSE [] END AS questions,
     // The word that an emptied turn keeps. After a question, "hmm" takes the place of "okay", which can mean yes. The
     // numbers of the turn and of its nodes choose the word, because a query has no seeded randomness.
     CASE WHEN size(wanted) = 0 THEN ['okay', 'hmm', 'oh', 'ah']
       ELSE ['hmm', 'oh', 'ah', 'hmm'] END[(g.turn + top.subtree_last + 1) % 4] AS word
WITH dialogue, amr, questions, details, word, amr + '>' + word AS site,
     CASE WHEN emptied THEN coalesce(top.top_branches, []) + [0] ELSE [] END AS ks
UNWIND
  // Each question and each detail is a separate site.
  [k IN questions | {amr: amr, position: k, op: 'drop'}]
  + [k IN details | {amr: amr, position: k, op: 'drop'}]
  // One site empties the graph: it drops all branches of the top, then changes its concept.
  + [k IN ks | CASE WHEN k > 0 THEN {amr: amr, position: k, op: 'drop', site: site}
      ELSE {amr: amr, position: 0, op: 'set', concept: word, site: site} END] AS edit
RETURN dialogue, collect(edit) AS edits
