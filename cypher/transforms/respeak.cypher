// respeak: Swaps I and you through an utterance: the right content from the wrong speaker.
// category: C-speaker
// source: Gupta et al. (2021), error category C-speaker
//
// All of one graph's pronouns are one site. Where there is neither I nor you, we becomes you.
// Graphs with an order are left alone (its you is not in the words), and so is who thanks whom,
// and what the speaker guesses, hopes or wonders: nobody says that of somebody else. Where only
// what is whose changes, or who may do it, the response could still be said, and where we stays
// beside them it reads badly: such sites are for whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.k = 0 OR n.deixis IS NOT NULL
WITH d.id AS dialogue, collect(n) AS ns, t.amr AS amr
WITH dialogue, amr, [n IN ns WHERE n.deixis IS NOT NULL] AS ours, [n IN ns WHERE n.k = 0][0] AS top
WHERE top.orders IS NULL AND top.wonders IS NULL
WITH dialogue, amr, top, ours, [n IN ours WHERE n.concept <> 'we'] AS mine
WITH dialogue, amr, CASE WHEN size(mine) > 0 THEN mine ELSE ours END AS said,
     CASE WHEN top.permits OR size(mine) > 0 AND size(mine) < size(ours)
       OR NOT any(n IN mine WHERE n.deixis = 'actor') THEN 'dialogue' END AS target,
     size([n IN ours WHERE n.deixis = 'actor']) AS score
UNWIND said AS n
MATCH (n)-[:LEXEME]->(:Term)-[:MOVES_TO {how: 'speaker'}]->(x:Term)
WITH dialogue, amr, target, score, n.k AS k, x.text AS other
ORDER BY dialogue, amr, k
RETURN dialogue, collect({amr: amr, k: k, op: 'set', concept: other, site: amr,
                          target: target, score: score}) AS edits
