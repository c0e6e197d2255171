// graft: Puts a statement of another dialogue in the response's place that speaks of what this context does.
// category: C-follow
// source: Key-sem (Gupta et al. 2021), on graphs
// needs: donors
//
// Statements are the portable sentences of the dialogue's donors (utterances of other dialogues of
// the corpus and split): of four to twenty nodes, they ask and order nothing and point at nothing
// said before. They say a noun of the context, or one that gives way to a noun of the context of
// its sort that its predicate takes; where none does, they stay as they are, and name a thing of a
// kind that the context has named. The response is close to the topic then, and answers nothing.
// Where the dialogue names nothing, any will do. Each turn can take four statements.
UNWIND $dialogues AS d
UNWIND [t IN d.turns | {turn: t.turn, amr: t.amr}] + [amr IN d.donors | {turn: -1, amr: amr}] AS g
MATCH (n:AmrNode {amr: g.amr})
WHERE n.topic OR g.turn < 0 AND n.portable
WITH d.id AS id, d, g.turn AS turn, g.amr AS amr, n.k AS k, n ORDER BY id, turn, amr, k
WITH d, collect({turn: turn, amr: amr, k: k, of: n.sentence, word: n.concept, sort: n.sort,
       noun: n.noun, top: n.portable, fits: CASE WHEN n.open_to IS NULL OR NOT n.sort IN n.takes
         THEN n.concept ELSE n.sort END}) AS ns
WITH d, [n IN ns WHERE n.turn >= 0] AS nouns, [s IN [s IN ns WHERE s.turn < 0 AND s.top | {
       amr: s.amr, k: s.k, open: [o IN ns WHERE o.amr = s.amr AND o.of = s.k AND o.sort <> '']}]
       WHERE size(s.open) > 0] AS tops
WITH d, nouns, tops, any(s IN tops WHERE any(o IN s.open WHERE any(n IN nouns
       WHERE n.turn < last(d.turns).turn AND n.noun = o.noun))) AS named UNWIND d.turns AS t
WITH d.id AS id, t, tops, named, [n IN nouns WHERE n.turn < t.turn] AS nouns
WITH id, t, nouns, tops, named, [s IN [s IN tops | {amr: s.amr, k: s.k, open: [o IN s.open
       WHERE any(n IN nouns WHERE o.fits IN [n.word, n.sort])],
       near: [o IN s.open WHERE any(n IN nouns WHERE n.noun = o.noun)]}]
       WHERE size(s.open) + size(s.near) > 0] AS found
WITH id, t, nouns, tops, named, found, [s IN found WHERE size(s.open) > 0] AS given
WITH id, t.amr AS amr, t.turn AS turn, nouns, CASE WHEN size(given) > 0 THEN given
       WHEN named THEN found ELSE tops END AS given
UNWIND [j IN [0, 1, 2, 3] WHERE j < size(given) | given[(turn * 4 + j) % size(given)]] AS s
WITH id, amr, turn, s, nouns, coalesce(s.open[0], s.near[0]) AS a
WITH id, amr, turn, s, a, [n IN nouns WHERE a.fits IN [n.word, n.sort] | n.word] AS fit
WITH id, amr, s, a, size(fit) AS score, CASE WHEN size(fit) = 0 OR a.word IN fit THEN a.word
       ELSE fit[(turn + a.k) % size(fit)] END AS word
UNWIND [{k: 0, op: 'graft', from_amr: s.amr, from_k: s.k}] + CASE word WHEN a.word THEN []
      ELSE [{k: a.k, op: 'set', concept: word, copy_of: s.amr}] END AS e
RETURN id AS dialogue, collect(e {.*, amr: amr, score: score,
                                  site: amr + '<' + s.amr + '.' + toString(s.k)}) AS edits
