// graft: Puts a statement of another dialogue in the response's place that speaks of what this context does.
// category: C-follow
// source: Key-sem (Gupta et al. 2021), on graphs
// needs: donors
//
// Before: A: Do you like the café?  B: The soup there is too salty.
// After:  A: Do you like the café?  B: My sister works in a café near the port.   (from another dialogue)
//
// A donor is an utterance of another dialogue of the corpus and split; each is offered to two dialogues at
// most. Its statements are the portable sentences: of four to twenty nodes, they ask and order nothing and
// point at nothing said before. A statement must share a noun with the context: it has one already, or one of
// its nouns is replaced by a noun of the context of the same sort that its predicate takes ("I sold the boat"
// becomes "I sold the car"). A statement that shares nothing is refused: any ranker would recognise it. Each
// turn can take four statements.
UNWIND $dialogues AS d
UNWIND [t IN d.turns | {turn: t.turn, amr: t.amr}] + [amr IN d.donors | {turn: -1, amr: amr}] AS g
MATCH (n:AmrNode {amr: g.amr})
WHERE n.topic OR g.turn < 0 AND n.portable
WITH d.id AS id, d, g.turn AS turn, g.amr AS amr, n.k AS k, n ORDER BY id, turn, amr, k
WITH d, collect({turn: turn, amr: amr, k: k, of: n.sentence, word: n.concept, sort: n.sort,
       top: n.portable, fits: CASE WHEN n.open_to IS NULL OR NOT n.sort IN n.takes
         THEN n.concept ELSE n.sort END}) AS ns
WITH d, [n IN ns WHERE n.turn >= 0] AS nouns, [s IN [s IN ns WHERE s.turn < 0 AND s.top | {
       amr: s.amr, k: s.k, open: [o IN ns WHERE o.amr = s.amr AND o.of = s.k AND o.sort <> '']}]
       WHERE size(s.open) > 0] AS tops
UNWIND d.turns AS t
WITH d.id AS id, t, tops, [n IN nouns WHERE n.turn < t.turn] AS nouns
// Nouns that the context says, or that give way to one of its nouns: a statement without them shares nothing.
WITH id, t.amr AS amr, t.turn AS turn, nouns, [s IN [s IN tops | {amr: s.amr, k: s.k, open: [o IN s.open
       WHERE any(n IN nouns WHERE o.fits IN [n.word, n.sort])]}] WHERE size(s.open) > 0] AS given
UNWIND [j IN [0, 1, 2, 3] WHERE j < size(given) | given[(turn * 4 + j) % size(given)]] AS s
WITH id, amr, turn, s, nouns, s.open[0] AS a
WITH id, amr, turn, s, a, [n IN nouns WHERE a.fits IN [n.word, n.sort] | n.word] AS fit
WITH id, amr, s, a, size(fit) AS score, CASE WHEN a.word IN fit THEN a.word
       ELSE fit[(turn + a.k) % size(fit)] END AS word
UNWIND [{k: 0, op: 'graft', from_amr: s.amr, from_k: s.k}] + CASE word WHEN a.word THEN []
      ELSE [{k: a.k, op: 'set', concept: word, copy_of: s.amr}] END AS e
RETURN id AS dialogue, collect(e {.*, amr: amr, score: score,
                                  site: amr + '<' + s.amr + '.' + toString(s.k)}) AS edits
