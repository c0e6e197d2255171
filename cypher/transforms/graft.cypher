// graft: Puts a statement of another dialogue in the response's place, its nouns made nouns of this context.
// category: C-follow
// source: Key-sem (Gupta et al. 2021) and CAPT's shift graph (Ou et al. 2022), on graphs
// needs: donors
//
// Statements are the :sntN or whole graphs, of four to twenty nodes, of the dialogue's donors (utterances of other
// dialogues of the corpus and split) that ask nothing, order nothing and point at nothing that was said before
// them. Of such a statement the first noun under :ARG0, :ARG1 or :ARG2 becomes one of the context's, people for
// people and things for things, and the second one another of these or, where shifts are loaded, what it most often
// shifts to: the response then shares the topic, and answers nothing. Each turn can take three statements.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND [t IN $dialogues[i].turns | {turn: t.turn, amr: t.amr}] + [amr IN $dialogues[i].donors | {turn: -1, amr: amr}] AS g
MATCH (n:AmrNode {amr: g.amr})
WITH i, g.turn AS turn, g.amr AS amr, collect(n) AS ns
WITH i, turn, amr, ns, [n IN ns WHERE n.role IN ['ARG0', 'ARG1', 'ARG2'] AND n.frame IS NULL AND n.concept IS NOT NULL
       AND NOT n.concept IN ['i', 'you', 'he', 'she', 'it', 'we', 'they', 'one', 'this', 'that', 'amr-unknown', 'and', 'or',
         'multi-sentence', 'name', 'so', 'yes', 'no', 'all', 'any', 'some', 'each', 'every', 'other', 'another', 'such', 'more',
         'most', 'less', 'least', 'too', 'enough', 'both', 'anything', 'something', 'nothing', 'everything', 'truth-value', 'own',
         'same', 'well', 'here', 'there', 'next', 'last', 'thing', 'person', 'everyone', 'everybody', 'someone', 'somebody',
         'anyone', 'anybody', 'no-one', 'nobody', 'none', 'oneself', 'self', 'lot', 'kind', 'sort', 'way', 'manner', 'location',
         'place', 'sire', 'sir', 'madam', 'majesty', 'hello', 'goodbye', 'hi', 'oh', 'ah', 'alas', 'morning', 'up', 'down', 'over',
         'out', 'away', 'back', 'far', 'near', 'once', 'else', 'alone', 'little', 'much', 'many', 'few', 'bit', 'number', 'time',
         'today', 'tomorrow', 'yesterday', 'now', 'then', 'course', 'matter', 'fact', 'idea', 'case', 'problem', 'interrogative',
         'moment', 'minute', 'hour', 'day', 'week', 'month', 'year', 'part', 'side', 'reason', 'example', 'chance', 'home']
       AND NOT n.concept =~ '.*(-of|-entity|-quantity|[0-9])'
       | {k: n.k, leaf: n.last = n.k, turn: turn, word: n.concept, person: n.concept IN ['man', 'woman', 'boy', 'girl', 'child',
         'kid', 'baby', 'guy', 'lady', 'gentleman', 'friend', 'mother', 'father', 'mom', 'mum', 'dad', 'parent', 'brother',
         'sister', 'son', 'daughter', 'uncle', 'aunt', 'cousin', 'husband', 'wife', 'grandmother', 'grandfather', 'boyfriend',
         'girlfriend', 'neighbor', 'neighbour', 'doctor', 'nurse', 'boss', 'king', 'queen', 'prince', 'princess', 'student',
         'teacher', 'professor', 'officer', 'people', 'family', 'guest', 'stranger', 'customer', 'colleague', 'manager',
         'secretary', 'waiter', 'driver', 'writer']}] AS nouns
WHERE size(nouns) > 0
WITH i, turn, amr, ns, [k IN range(0, size(ns) - 1) WHERE any(n IN nouns WHERE n.k = k) | [n IN nouns WHERE n.k = k][0]] AS nouns,
     CASE WHEN turn >= 0 THEN [] WHEN any(n IN ns WHERE n.concept = 'multi-sentence' AND n.k = 0)
       THEN [n IN ns WHERE n.up = 0 AND n.frame] ELSE [n IN ns WHERE n.k = 0 AND n.frame] END AS tops,
     [n IN ns WHERE n.role IN ['mode', 'polite'] OR coalesce(n.concept, n.value) IN ['amr-unknown', 'interrogative', 'truth-value',
       'expressive', 'it', 'this', 'that', 'they', 'he', 'she', 'so', 'then', 'yes', 'no', 'too', 'also', 'name'] | n.k] AS barred
WITH i, turn, amr, nouns, [s IN tops WHERE s.last - s.k > 2 AND s.last - s.k < 20
       AND NOT s.concept IN ['thank-01', 'hello-01', 'greet-01', 'welcome-01', 'excuse-01', 'sorry-01', 'say-01', 'okay-04']
       AND NOT any(k IN barred WHERE k >= s.k AND k <= s.last)
       | {amr: amr, top: s.k, open: [n IN nouns WHERE n.leaf AND n.k > s.k AND n.k <= s.last][0..2]}] AS statements
ORDER BY i, turn, amr
WITH i, collect(CASE WHEN turn >= 0 THEN nouns END) AS said,
     collect(CASE WHEN turn < 0 THEN [s IN statements WHERE size(s.open) > 0] END) AS given
WITH i, reduce(all = [], found IN said | all + found) AS nouns, reduce(all = [], found IN given | all + found) AS given
UNWIND $dialogues[i].turns AS t
WITH i, t, given, [n IN nouns WHERE n.turn < t.turn AND n.person | n.word] AS people,
     [n IN nouns WHERE n.turn < t.turn AND NOT n.person | n.word] AS things
UNWIND [j IN range(0, 2) WHERE j < size(given) | given[(t.turn * 3 + j) % size(given)]] AS s
WITH t.amr AS amr, t.turn AS turn, i, s, things, CASE WHEN s.open[0].person THEN people ELSE things END AS first,
     CASE WHEN size(s.open) < 2 THEN [] WHEN s.open[1].person THEN people ELSE things END AS second
WHERE size(first) > 0
WITH i, amr, turn, s, first[(turn + s.open[0].k) % size(first)] AS word, second
WHERE word <> s.open[0].word
WITH i, amr, turn, s, word, [w IN second WHERE w <> word AND w <> s.open[1].word] AS second
WITH i, amr, turn, s, word, CASE WHEN size(second) > 0 THEN second[(turn + s.open[1].k) % size(second)] END AS other
OPTIONAL MATCH (:Term {text: replace(coalesce(CASE WHEN (turn + s.top) % 2 = 0 AND NOT s.open[1].person THEN other END, ''),
       '-', ' ')})-[h:SHIFTS_TO]->(x:Term)
WITH i, amr, s, word, other, h.count AS amount, x.text AS text
ORDER BY i, amr, amount DESC, text
WITH i, amr, s, word, other, collect(text)[0] AS next
OPTIONAL MATCH (f:Frame {lemma: coalesce(next, '')})
WITH i, amr, s, word, other, next, count(f) AS verbs
WITH i, amr, s, word, CASE WHEN next IS NULL OR next CONTAINS ' ' OR next = word OR verbs > 0 THEN other ELSE next END AS other,
     amr + '<' + s.amr + '.' + toString(s.top) AS site
UNWIND [{amr: amr, k: 0, op: 'graft', from_amr: s.amr, from_k: s.top, site: site},
        {amr: amr, k: s.open[0].k, op: 'set', concept: word, copy_of: s.amr, site: site}]
  + CASE WHEN other IS NULL THEN []
      ELSE [{amr: amr, k: s.open[1].k, op: 'set', concept: other, copy_of: s.amr, site: site}] END AS edit
RETURN $dialogues[i].id AS dialogue, collect(edit) AS edits
