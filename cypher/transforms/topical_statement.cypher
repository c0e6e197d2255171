// topical_statement: Replaces the response by a statement from another dialogue that shares a noun with this context.
// category: C-follow
// source: Key-sem (Gupta et al. 2021), on graphs
// needs: donors
//
// Before: A: He was inside, but the window was open.  B: Then close the window next time, please.
//   A: I promise that it won't happen again.
// After:  A: He was inside, but the window was open.  B: Then close the window next time, please.
//   A: I left the windows open.   (from another dialogue)
// Graph:  (p / promise-01 ...) => (l / leave-13 :ARG0 (i / i) :ARG1 (o / open-09 :ARG1 (w / window)))
//
// A donor is an utterance of another dialogue of the same corpus and split. Each donor is offered to at most two
// dialogues. Its statements are the sentences that fit any dialogue: they have four to twenty nodes, ask nothing, order
// nothing and refer to nothing before them. For each turn, up to four statements become sites.
//
// Departures from Gupta et al.:
// - Key-sem generates a response from keywords with a language model. This transform copies a sentence from the corpus
//   and changes at most one noun.
// - The statement must share a noun with the context. If it does not, one of its nouns is replaced by a noun of the
//   context that belongs to the same noun class and fits the predicate: "I sold the boat" becomes "I sold the car". If
//   this is not possible, the statement is not used, because any ranker would recognise a response that shares nothing
//   with the context.
UNWIND $dialogues AS d
// Take the graphs of the dialogue's turns, and the graphs of the donors as turn -1.
UNWIND [t IN d.turns | {turn: t.turn, amr: t.amr}] + [amr IN d.donors | {turn: -1, amr: amr}] AS g
MATCH (n:AmrNode {amr: g.amr})
WHERE
  // Match nouns that can be mentioned again. Names, units and vague nouns such as "case" are excluded.
  n.topical
  // Match the tops of those sentences of donors that fit any dialogue.
  OR g.turn < 0 AND n.context_free
WITH d.id AS id, d, g.turn AS turn, g.amr AS amr, n.position AS position, n ORDER BY id, turn, amr, position
WITH d, collect({turn: turn, amr: amr, position: position, of: n.sentence_top, word: n.concept, noun_class: n.noun_class,
       top: n.context_free,
       // The class that a noun of the context must have to replace this noun. If the noun must not be replaced, or if the
       // selectional preferences of its predicate exclude the class, it is the noun itself.
       fits: CASE WHEN n.substitutable_kind IS NULL OR NOT n.noun_class IN n.selectional_preferences
         THEN n.concept ELSE n.noun_class END}) AS ns
WITH d,
     [n IN ns WHERE n.turn >= 0] AS nouns,
     // The statements of the donors, each with its nouns of a known sort. Statements without such nouns are dropped.
     [s IN [s IN ns WHERE s.turn < 0 AND s.top | {
       amr: s.amr, position: s.position, open: [o IN ns WHERE o.amr = s.amr AND o.of = s.position AND o.noun_class <> '']}]
       WHERE size(s.open) > 0] AS tops
UNWIND d.turns AS t
WITH d.id AS id, t, tops, [n IN nouns WHERE n.turn < t.turn] AS nouns
WITH id, t.amr AS amr, t.turn AS turn, nouns,
     // Of each statement, keep the nouns that occur in the context or that a noun of the context can replace. Drop
     // statements without such a noun, because they share nothing with the context.
     [s IN [s IN tops | {amr: s.amr, position: s.position, open: [o IN s.open
       WHERE any(n IN nouns WHERE o.fits IN [n.word, n.noun_class])]}] WHERE size(s.open) > 0] AS given
// Choose up to four statements for each turn. Each turn starts at another place of the list, so that turns differ.
UNWIND [j IN [0, 1, 2, 3] WHERE j < size(given) | given[(turn * 4 + j) % size(given)]] AS s
// The first of these nouns is the one that is shared with the context or replaced.
WITH id, amr, turn, s, nouns, s.open[0] AS a
WITH id, amr, turn, s, a, [n IN nouns WHERE a.fits IN [n.word, n.noun_class] | n.word] AS fit
// The score makes the engine prefer statements whose noun has many counterparts in the context.
WITH id, amr, s, a, size(fit) AS score,
     CASE
       // If the noun occurs in the context, keep it.
       WHEN a.word IN fit THEN a.word
       ELSE fit[(turn + a.position) % size(fit)]
     END AS word
UNWIND [{position: 0, op: 'graft', from_amr: s.amr, from_position: s.position}]
  + CASE word WHEN a.word THEN []
      ELSE [{position: a.position, op: 'set', concept: word, copy_of: s.amr}] END AS e
RETURN id AS dialogue, collect(e {.*, amr: amr, score: score,
                                  site: amr + '<' + s.amr + '.' + toString(s.position)}) AS edits
