// respeak: Swaps I and you through an utterance: the right content from the wrong speaker.
// category: C-speaker
// source: Gupta et al. (2021), error category C-speaker
//
// All of one graph's pronouns are one site. Where there is neither I nor you, we becomes you.
// Graphs with an order are left alone (its you is not in the words), and so is who thanks whom, and what the speaker
// guesses, hopes or wonders: nobody says that of somebody else. Where only
// what is whose changes, or who may do it, the response could still be said: such sites are for whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.concept IN ['i', 'you', 'we', 'thank-01', 'possible-01', 'recommend-01', 'have-rel-role-91', 'have-org-role-91',
  'guess-01', 'wonder-01', 'hope-01', 'bet-01', 'wish-01', 'suppose-01', 'mean-01', 'doubt-01'] OR n.value = 'imperative'
WITH d.id AS dialogue, t.amr AS amr, collect(n) AS ns
WHERE NOT any(n IN ns WHERE n.role = 'mode')
WITH dialogue, amr, ns, [n IN ns WHERE n.concept = 'thank-01' | n.k] AS thanks,
     [n IN ns WHERE n.concept IN ['guess-01', 'wonder-01', 'hope-01', 'bet-01', 'wish-01', 'suppose-01', 'mean-01', 'doubt-01'] | n.k] AS feelings
WHERE NOT any(n IN ns WHERE n.concept = 'i' AND n.up IN feelings)
WITH dialogue, amr, [n IN ns WHERE n.concept IN ['i', 'you', 'we'] AND NOT n.k IN thanks AND NOT coalesce(n.up, -1) IN thanks] AS ns,
     [n IN ns WHERE n.concept IN ['possible-01', 'recommend-01'] | n.k] AS modals,
     [n IN ns WHERE n.concept ENDS WITH '-91' | n.k] AS related
WITH dialogue, amr, ns, modals, related, [n IN ns WHERE n.concept <> 'we'] AS singular,
     CASE WHEN size(modals) = 0 AND any(n IN ns WHERE n.concept <> 'we' AND (n.role STARTS WITH 'ARG' OR n.role = 'domain') AND NOT n.up IN related) THEN null ELSE 'dialogue' END AS target
UNWIND CASE WHEN size(singular) > 0 THEN singular ELSE ns END AS n
WITH dialogue, amr, target, n.k AS k, n.concept AS concept
ORDER BY dialogue, amr, k
RETURN dialogue, collect({amr: amr, k: k, op: 'set', concept: CASE concept WHEN 'you' THEN 'i' ELSE 'you' END,
         site: amr, target: target}) AS edits
