// respeak: Swaps I and you through an utterance: the right content from the wrong speaker.
// category: C-speaker
// source: Gupta et al. (2021), error category C-speaker
//
// Before: B: Have you taken any medicine?  A: No, I don't like pills.
// After:  B: Have you taken any medicine?  A: No, you don't like pills.
// Graph:  (l / like-01 :polarity - :ARG0 (i / i) :ARG1 (p / pill))
//   => (l / like-01 :polarity - :ARG0 (y / you) :ARG1 (p / pill))
//
// All pronouns of one graph form one site. Where there is neither "I" nor "you", "we" becomes "you".
//
// Departures: Gupta et al. name the error category, but no method for it. The rules are this project's own:
// - A graph with an order is skipped: its "you" is not among the words ("Sit down").
// - Who thanks whom stays, and so does what the speaker guesses, hopes or wonders: "You hope so" is not said.
// - Where only a possessor changes ("my brother"), or who may do something, the changed response could still be
//   right. Where "we" stays beside the swapped pronouns, it reads badly. Such sites are for whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// The top, which has the properties of the whole graph, and the nodes for "I", "you" and "we".
WHERE n.k = 0 OR n.deixis IS NOT NULL
WITH d.id AS dialogue, collect(n) AS ns, t.amr AS amr
WITH dialogue, amr, [n IN ns WHERE n.deixis IS NOT NULL] AS ours, [n IN ns WHERE n.k = 0][0] AS top
WHERE
  // "Call me" has a "you" that no word says.
  top.orders IS NULL
  // "I hope it rains" is about the speaker's own thoughts.
  AND top.wonders IS NULL
WITH dialogue, amr, top, ours, [n IN ours WHERE n.concept <> 'we'] AS mine
// "We" changes only where there is no "I" and no "you": "We are late" becomes "You are late".
WITH dialogue, amr, CASE WHEN size(mine) > 0 THEN mine ELSE ours END AS said,
     CASE WHEN
       // "I can come", "I must go": with "you" they can be right as well.
       top.permits
       // "I called while we waited" becomes "You called while we waited", which reads badly as a response.
       OR size(mine) > 0 AND size(mine) < size(ours)
       // Only possessors and the like change: "My brother came" becomes "Your brother came".
       OR NOT any(n IN mine WHERE n.deixis = 'actor')
       THEN 'dialogue' END AS target,
     // The engine prefers sentences in which more of the pronouns do or are something.
     size([n IN ours WHERE n.deixis = 'actor']) AS score
UNWIND said AS n
MATCH (n)-[:LEXEME]->(:Term)-[:MOVES_TO {how: 'speaker'}]->(x:Term)
WITH dialogue, amr, target, score, n.k AS k, x.text AS other
ORDER BY dialogue, amr, k
RETURN dialogue, collect({amr: amr, k: k, op: 'set', concept: other,
                          // One site for the whole graph: all its pronouns change together.
                          site: amr,
                          target: target, score: score}) AS edits
