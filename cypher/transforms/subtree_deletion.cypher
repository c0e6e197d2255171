// subtree_deletion: Removes content: drops a question, reduces an utterance to one word, or prunes a detail that was asked for.
// category: C-follow
// source: DEAM (Ghazarian et al. 2022, section 3), decreased engagement
// target: dialogue
//
// Before: A: What are you cooking? It smells delicious.  B: I'm making a soup with carrots and onions.
// After:  A: What are you cooking? It smells delicious.  B: Hmm.
// Graph:  (m / make-01 :ARG0 (i / i) :ARG1 (s / soup ...)) => (h / hmm)
//
// There are three kinds of edits, as in DEAM:
// - A question is dropped from a turn of several sentences: "Yes. Will you go?" becomes "Yes."
// - An utterance is emptied, that is, reduced to a word such as "hmm".
// - A detail is pruned. After "When do you leave?", "I leave for home at noon" becomes "I leave for home".
//
// Departures from DEAM:
// - A question is dropped only if another turn follows. That turn then answers a question that nobody has asked.
// - Only answers to questions and the utterance with the deepest graph of a dialogue can be emptied, because readers
//   would not miss the content of other turns. If all answers became "Hmm.", the negative would be easy to recognise.
//   Therefore at most one turn is emptied in a dialogue of up to eight turns, and one more for each further eight turns.
//   Turns with deeper graphs are preferred.
// - An answer is never reduced to "okay", which can mean yes.
// - A detail is pruned only if the previous turn asked for its role. An utterance that lacks any other detail would
//   still be right. Conditions are the exception: they can always be pruned.
// - A short last turn need not be wrong. Therefore the transform is only used for negatives of whole dialogues.

// Collect the graphs of each dialogue in the order of the turns. Keep two kinds of nodes of each graph: its top node,
// whose properties describe the whole graph, and nodes that express a detail, such as a time, a place or a reason.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.position = 0 OR n.prunable_detail
WITH d.id AS dialogue, t.turn AS turn, collect(n) AS nodes
WITH dialogue, turn, [n IN nodes WHERE n.position = 0][0] AS top, [n IN nodes WHERE n.prunable_detail] AS details
ORDER BY dialogue, turn
WITH dialogue, max(turn) AS last_turn, max(top.depth) AS max_depth,
     collect({turn: turn, top: top, details: details, depth: top.depth}) AS graphs

// Store with each graph the AMR roles for which the previous turn asks: "When does it leave?" asks for :time.
WITH dialogue, last_turn, max_depth, graphs AS previous, graphs
WITH dialogue, last_turn, max_depth, [g IN graphs | {
       turn: g.turn, top: g.top, details: g.details, depth: g.depth,
       asked_roles: coalesce([p IN previous WHERE p.turn = g.turn - 1 | p.top.asked_roles][0], [])}] AS graphs

// Find the turns that can be emptied, that is, reduced to a word such as "hmm".
WITH dialogue, last_turn, graphs,
     // The deepest graph of the dialogue; if there are several, the first. A graph of depth 1 is too small to lose
     // content.
     [g IN graphs WHERE g.depth = max_depth AND max_depth > 1 | g.turn][0] AS deepest_turn,
     // The maximum number of turns to empty: one in a dialogue of up to eight turns, two in one of up to sixteen, and
     // so on.
     1 + (size(graphs) - 1) / 8 AS max_emptied
WITH dialogue, last_turn, graphs, max_emptied, [g IN graphs WHERE
       // Do not empty a graph whose top node is also an argument of another node in the graph (a reentrancy): the
       // argument would be lost, too.
       g.top.reentrant_top IS NULL
       AND (
         // The turn with the deepest graph has much content, so readers notice if it is replaced by an interjection:
         // "I'm making a soup with carrots and onions." becomes "Oh."
         g.turn = deepest_turn
         // The previous turn asks a question, so readers notice if the answer is deleted.
         OR size(g.asked_roles) > 0
           // A graph of one node ("Yes.") has no branches that could be deleted.
           AND g.depth > 0
           // Skip turns that only ask a question in return ("What time is it?"), because they contain no answer that
          // readers could miss.
           AND g.top.only_questions IS NULL)
       | {turn: g.turn, depth: g.depth}] AS can_be_emptied
UNWIND graphs AS g
WITH dialogue, last_turn, g, g.top AS top, g.top.amr AS amr,
     // At most max_emptied turns are emptied. Turns with deeper graphs are preferred, then earlier turns.
     any(e IN can_be_emptied WHERE e.turn = g.turn)
     AND size([e IN can_be_emptied WHERE
       e.depth > g.depth
       OR e.depth = g.depth AND e.turn < g.turn]) < max_emptied AS emptied,
     // The words to which the utterance can be reduced. After a question, "okay" could mean yes, so "hmm" is used
     // instead.
     CASE WHEN size(g.asked_roles) = 0 THEN ['okay', 'hmm', 'oh', 'ah']
       ELSE ['hmm', 'oh', 'ah', 'hmm'] END AS words
WITH dialogue, last_turn, g, top, amr, emptied,
     // Choose "okay", "hmm", "oh" or "ah" by the turn number and the number of nodes, because Cypher has no seeded
     // random function.
     words[(g.turn + top.subtree_last + 1) % 4] AS word

// Make the edits.
WITH dialogue,
     // Drop a question if another turn follows. Each question is a separate site.
     CASE WHEN g.turn < last_turn
       THEN [position IN coalesce(top.question_sentences, []) | {amr: amr, position: position, op: 'drop'}]
       ELSE [] END AS drop_questions,
     // Drop a detail for which the previous turn asked, such as "at noon" after "When do you leave?", or a condition,
     // such as "if it rains". Each detail is a separate site, that is, an alternative edit.
     [detail IN g.details WHERE detail.role IN g.asked_roles + ['condition']
       | {amr: amr, position: detail.position, op: 'drop'}] AS prune_details,
     // Empty the utterance: drop all branches of the top, then change its concept. The edits have the same site, so
     // that they are applied together.
     CASE WHEN emptied
       THEN [position IN coalesce(top.top_branches, [])
             | {amr: amr, position: position, op: 'drop', site: amr + '>' + word}]
         + [{amr: amr, position: 0, op: 'set', concept: word, site: amr + '>' + word}]
       ELSE [] END AS empty_utterance
UNWIND drop_questions + prune_details + empty_utterance AS edit
RETURN dialogue, collect(edit) AS edits
