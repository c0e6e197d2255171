// restrat: Changes the dialogue act: statement, yes/no question, order, refusal, agreement or doubt.
// category: C-strat
// source: Gupta et al. (2021), error category C-strat
// target: dialogue
//
// A statement's main predicate becomes a question (:polarity amr-unknown) or, with you as its
// :ARG0, an order (:mode imperative); a whole statement becomes what the speaker refuses, agrees
// to or doubts. A yes/no question becomes a statement, and an order a yes/no question: "You open
// the window" would still be an order. What the speaker thinks, hopes or regrets is left: nobody
// asks or doubts that of himself. Nor does anybody refuse what he does not do but is in: to want,
// to have, to be. What comes of it could often be said there, and harms the turns after it. What is
// the speaker's own he neither asks nor doubts. Long sentences, reported ones and those that open with
// a clause of their own make no question, what one has or knows no order.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (p:AmrNode {amr: t.amr})
WHERE p.acts IS NOT NULL
WITH d.id AS dialogue, p, coalesce(p.asked_by, p.ordered_by) AS mark
UNWIND p.acts AS act
WITH dialogue, p.amr AS amr, p.k AS k, act, mark, CASE
       WHEN mark IS NOT NULL THEN p.amr + '.' + toString(mark)
       WHEN act = 'ask' THEN p.amr + '.' + toString(p.k) + '?'
       WHEN act = 'order' THEN p.amr + '.' + toString(p.k) + '!'
       ELSE p.amr + CASE act WHEN 'doubt' THEN '<doubt-01' ELSE '<act' END END AS site
UNWIND CASE act
    WHEN 'tell' THEN [{amr: amr, k: mark, op: 'drop', site: site}]
    WHEN 'ask' THEN [{amr: amr, k: k, op: 'add', role: 'polarity', concept: 'amr-unknown',
                      site: site}]
    WHEN 'order' THEN [{amr: amr, k: k, op: 'add', role: 'mode', value: 'imperative', site: site}]
    ELSE [{amr: amr, k: 0, op: 'wrap', role: 'ARG1', concept: act + '-01', site: site},
          {amr: amr, k: -1, op: 'add', role: 'ARG0', concept: 'i', site: site}] END AS edit
RETURN dialogue, collect(edit) AS edits
