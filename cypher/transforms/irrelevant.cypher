// irrelevant: Swaps a small ARG or op subtree with one of the same kind from another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), irrelevancy
// target: dialogue
//
// The pool is the role (objects :ARG1 and :ARG2 share one) and what may stand in the node's slot:
// a noun of a kind, a thing of any kind where one has, buys or sees it, or what one wants or
// begins to do. A noun comes with nothing below but what goes before it or after of. Modifiers
// stay, since another adjective seldom makes an answer wrong; so do pronouns, greetings, quoted
// words, parts of a word (the lamp of a lamplighter) and what is asked for. What comes of it seldom
// clashes with the turns before it, but with those after it: sites are for negatives of dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.slot IS NOT NULL
RETURN d.id AS dialogue, collect({amr: n.amr, k: n.k, op: 'graft', own: n.phrase,
    score: size(coalesce(n.echo, [])),
    pool: CASE
    WHEN n.role IN ['ARG1', 'ARG2'] THEN 'object'
    WHEN n.role STARTS WITH 'op' THEN 'op'
    ELSE n.role END + ' ' + n.slot}) AS edits
