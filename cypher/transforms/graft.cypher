// graft: Puts a statement of another dialogue in the response's place, its nouns made nouns of this context.
// category: C-follow
// source: Key-sem (Gupta et al. 2021) and CAPT's shift graph (Ou et al. 2022), on graphs
// needs: donors
//
// Statements are the portable sentences of the dialogue's donors (utterances of other dialogues of
// the corpus and split): of four to twenty nodes, they ask and order nothing and point at nothing
// said before. The first of their nouns of whose kind the context has one becomes that one; the
// next becomes another of its kind or, in half of the sites and where shifts are loaded, what that
// most often shifts to: the response then shares the topic, and answers nothing. Each turn can
// take three statements.
UNWIND $dialogues AS d
UNWIND [t IN d.turns | {turn: t.turn, amr: t.amr}] + [amr IN d.donors | {turn: -1, amr: amr}] AS g
MATCH (n:AmrNode {amr: g.amr})
WHERE CASE WHEN g.turn < 0 THEN n.portable OR n.open_to IS NOT NULL ELSE n.topic END
WITH d.id AS id, d, g.turn AS turn, g.amr AS amr, n.k AS k, n ORDER BY id, turn, amr, k
WITH d, collect({turn: turn, amr: amr, k: k, of: n.sentence, word: n.concept, open: n.open_to,
       kind: n.kind, kinds: [n.kind, n.noun, 'any'], top: n.portable}) AS ns
WITH d, [n IN ns WHERE n.turn >= 0] AS nouns, [s IN ns WHERE s.turn < 0 AND s.top | {amr: s.amr,
       k: s.k, open: [o IN ns WHERE o.amr = s.amr AND o.of = s.k AND o.open <> ''][0..4]}] AS tops
UNWIND d.turns AS t
WITH d.id AS id, t.amr AS amr, t.turn AS turn, tops, [n IN nouns WHERE n.turn < t.turn] AS nouns
WITH id, amr, turn, nouns, [s IN [s IN tops | {amr: s.amr, k: s.k, open: [o IN s.open
       WHERE any(n IN nouns WHERE o.open IN n.kinds)]}] WHERE size(s.open) > 0] AS given
UNWIND [j IN [0, 1, 2] WHERE j < size(given) | given[(turn * 3 + j) % size(given)]] AS s
WITH id, amr, turn, nouns, s, s.open[0] AS a, s.open[1] AS b, [n IN nouns
       WHERE s.open[0].open IN n.kinds AND n.word <> s.open[0].word] AS fit WHERE size(fit) > 0
WITH id, amr, turn, nouns, s, a, b, fit[(turn + a.k) % size(fit)].word AS word
WITH id, amr, turn, s, a, b, word,
     [n IN nouns WHERE b.open IN n.kinds AND NOT n.word IN [word, b.word] | n.word] AS fit
WITH id, amr, s, a, b, word, (turn + s.k) % 2 = 0 AND b.kind <> 'person' AS shifts,
     CASE WHEN size(fit) > 0 THEN fit[(turn + b.k) % size(fit)] END AS other
OPTIONAL MATCH (:Term {text: replace(coalesce(other, ''), '-', ' ')})-[h:SHIFTS_TO]->(x:Term)
WHERE shifts AND x.kind = b.kind AND x.form <> 'phrase' AND x.text <> word
WITH id, amr, s, a, b, word, other, x.text AS text, h.count AS n ORDER BY id, amr, n DESC, text
WITH id, amr, s, a, b, word, other, collect(text)[0] AS shifted
UNWIND [{amr: amr, k: 0, op: 'graft', from_amr: s.amr, from_k: s.k},
    {amr: amr, k: a.k, op: 'set', concept: word, copy_of: s.amr}]
  + [o IN [coalesce(shifted, other)] WHERE o <> ''
      | {amr: amr, k: b.k, op: 'set', concept: o, copy_of: s.amr}] AS e
RETURN id AS dialogue, collect(e {.*, site: amr + '<' + s.amr + '.' + toString(s.k)}) AS edits
