// graft: Puts a statement of another dialogue in the response's place, its nouns made nouns of this context.
// category: C-follow
// source: Key-sem (Gupta et al. 2021) and CAPT's shift graph (Ou et al. 2022), on graphs
// needs: donors
//
// Statements are the :sntN or whole graphs, of four to twenty nodes, of the dialogue's donors (utterances of other
// dialogues of the corpus and split) that ask nothing, order nothing and point at nothing that was said before
// them. Only nouns that name no deed, state or time, nor where it is, give way. Of such a statement the first argument or place of whose
// kind (a person, a place, something to eat) the context has one becomes that one; the next such noun becomes another of its kind or, where shifts are loaded, what that most
// often shifts to: the response then shares the topic, and answers nothing. What one can have, buy or see may be things
// of any kind, what one likes or remembers anything, what one
// plays or closes nothing else. Each turn can take three statements.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND [t IN $dialogues[i].turns | {turn: t.turn, amr: t.amr}] + [amr IN $dialogues[i].donors | {turn: -1, amr: amr}] AS g
MATCH (n:AmrNode {amr: g.amr})
WITH i, g.turn AS turn, g.amr AS amr, collect(n) AS ns
WITH i, turn, amr, ns, [n IN ns WHERE n.concept IN ['have-03', 'have-01', 'buy-01', 'see-01', 'lose-02', 'like-01', 'like-02', 'love-01',
       'hate-01', 'bring-01', 'want-01', 'take-01', 'get-01', 'need-01', 'find-01', 'forget-01', 'leave-13', 'sell-01', 'give-01',
       'send-01', 'show-01', 'offer-01', 'keep-01', 'carry-01', 'drop-01', 'put-01', 'choose-01', 'prefer-01', 'remember-01',
       'know-02', 'look-01', 'describe-01', 'mention-01', 'use-01', 'check-01', 'afford-01', 'recommend-01', 'order-02', 'own-01', 'rent-01', 'steal-01', 'borrow-01',
       'lend-02', 'receive-01', 'return-02', 'share-01', 'hold-01', 'throw-01', 'draw-01', 'think-01', 'talk-01', 'miss-02', 'fear-01'] | n.k] AS handling,
     [n IN ns WHERE n.concept IN ['like-01', 'like-02', 'love-01', 'hate-01', 'fear-01', 'remember-01', 'mention-01', 'describe-01',
       'prefer-01', 'miss-02', 'enjoy-01', 'forget-01'] | n.k] AS liking,
     CASE WHEN turn >= 0 THEN [] ELSE [n IN ns WHERE n.concept IN ['speak-01', 'solve-01', 'close-01', 'open-01', 'play-01', 'play-11', 'play-02',
       'fill-01', 'win-01', 'sound-01', 'seem-01', 'resemble-01'] | n.k] END AS choosy
WITH i, turn, amr, ns, handling, liking, [n IN ns WHERE NOT coalesce(n.up, -1) IN choosy AND n.frame IS NULL AND n.concept IS NOT NULL
       AND (n.role IN ['ARG0', 'ARG1', 'ARG2', 'ARG3', 'ARG4', 'location', 'destination', 'domain', 'op1', 'op2', 'accompanier', 'instrument', 'topic']
         OR turn >= 0 AND NOT coalesce(n.role, '') IN ['mod', 'time', 'unit', 'quant', 'name'])
       AND NOT n.concept IN ['i', 'you', 'he', 'she', 'it', 'we', 'they', 'one', 'this', 'that', 'amr-unknown', 'and', 'or',
         'multi-sentence', 'name', 'so', 'yes', 'no', 'all', 'any', 'some', 'each', 'every', 'other', 'another', 'such', 'more',
         'most', 'less', 'least', 'too', 'enough', 'both', 'anything', 'something', 'nothing', 'everything', 'truth-value', 'own',
         'same', 'well', 'here', 'there', 'next', 'last', 'thing', 'person', 'everyone', 'everybody', 'someone', 'somebody',
         'anyone', 'anybody', 'no-one', 'nobody', 'none', 'oneself', 'self', 'lot', 'kind', 'sort', 'way', 'manner', 'location',
         'place', 'sire', 'sir', 'madam', 'majesty', 'hello', 'goodbye', 'hi', 'oh', 'ah', 'alas', 'morning', 'up', 'down', 'over',
         'out', 'away', 'back', 'far', 'near', 'once', 'else', 'alone', 'little', 'much', 'many', 'few', 'bit', 'number', 'time',
         'today', 'tomorrow', 'yesterday', 'now', 'then', 'course', 'matter', 'fact', 'idea', 'case', 'problem', 'interrogative',
         'moment', 'minute', 'hour', 'day', 'week', 'month', 'year', 'part', 'side', 'reason', 'example', 'chance', 'home', 'future', 'past',
         'end', 'beginning', 'fun', 'step']
       AND NOT (turn < 0 AND (coalesce(n.kind, 'thing') IN ['act', 'state', 'time'] AND NOT (n.up IN liking AND n.role = 'ARG1')
         OR n.role IN ['location', 'destination']))
       AND NOT n.concept =~ '.*(-of|-entity|-quantity|[0-9])'
       AND coalesce(n.kind, 'thing') <> 'other'
       | {k: n.k, turn: turn,
          leaf: n.last = n.k OR n.last = n.k + 1 AND any(c IN ns WHERE c.up = n.k AND (c.role IN ['poss', 'quant'] OR c.role = 'mod' AND n.role STARTS WITH 'ARG')), word: n.concept, kind: coalesce(n.kind, 'thing'),
          pool: CASE WHEN turn < 0 AND n.up IN liking AND n.role = 'ARG1' THEN 'any' WHEN (turn >= 0 OR n.up IN handling AND n.role = 'ARG1') AND n.kind IN ['object', 'clothes', 'work', 'food', 'drink', 'plant',
            'vehicle', 'animal'] THEN 'thing' ELSE coalesce(n.kind, 'thing') END}] AS nouns
WHERE size(nouns) > 0
WITH i, turn, amr, ns, [k IN range(0, size(ns) - 1) WHERE any(n IN nouns WHERE n.k = k) | [n IN nouns WHERE n.k = k][0]] AS nouns,
     CASE WHEN turn >= 0 THEN [] WHEN any(n IN ns WHERE n.concept = 'multi-sentence' AND n.k = 0)
       THEN [n IN ns WHERE n.up = 0 AND n.frame] ELSE [n IN ns WHERE n.k = 0 AND n.frame] END AS tops,
     [n IN ns WHERE n.role IN ['mode', 'polite'] OR coalesce(n.concept, n.value) IN ['amr-unknown', 'interrogative', 'truth-value',
       'expressive', 'it', 'this', 'that', 'they', 'he', 'she', 'so', 'then', 'yes', 'no', 'too', 'also', 'neither', 'either', 'instead', 'lol-01'] | n.k] AS barred
WITH i, turn, amr, nouns, barred, [k IN range(0, size(ns) - 1) WHERE any(s IN tops WHERE s.k = k) | [s IN tops WHERE s.k = k][0]] AS tops
WITH i, turn, amr, nouns, [s IN tops WHERE s.last - s.k > 2 AND s.last - s.k < 20
       AND NOT s.concept IN ['thank-01', 'hello-01', 'greet-01', 'welcome-01', 'excuse-01', 'sorry-01', 'say-01', 'okay-04']
       AND NOT any(k IN barred WHERE k >= s.k AND k <= s.last)
       | {amr: amr, top: s.k, open: [n IN nouns WHERE n.leaf AND n.k > s.k AND n.k <= s.last][0..4]}] AS statements
ORDER BY i, turn, amr
WITH i, collect(CASE WHEN turn >= 0 THEN nouns END) AS said,
     collect(CASE WHEN turn < 0 THEN [s IN statements WHERE size(s.open) > 0] END) AS given
WITH i, reduce(all = [], found IN said | all + found) AS nouns, reduce(all = [], found IN given | all + found) AS given
UNWIND $dialogues[i].turns AS t
WITH i, t.amr AS amr, t.turn AS turn, given, [n IN nouns WHERE n.turn < t.turn] AS nouns
WITH i, amr, turn, nouns, [n IN nouns | n.kind] + [n IN nouns | n.pool] + ['any'] AS kinds, given
WITH i, amr, turn, nouns, [s IN given | {amr: s.amr, top: s.top, open: [o IN s.open WHERE o.pool IN kinds]}] AS given
WITH i, amr, turn, nouns, [s IN given WHERE size(s.open) > 0] AS given
UNWIND [j IN range(0, 2) WHERE j < size(given) | given[(turn * 3 + j) % size(given)]] AS s
WITH i, amr, turn, nouns, s, [n IN nouns WHERE s.open[0].pool IN [n.kind, n.pool, 'any'] AND n.word <> s.open[0].word | n.word] AS first
WHERE size(first) > 0
WITH i, amr, turn, nouns, s, first[(turn + s.open[0].k) % size(first)] AS word
WITH i, amr, turn, s, word, CASE WHEN size(s.open) < 2 THEN [] ELSE
       [n IN nouns WHERE s.open[1].pool IN [n.kind, n.pool, 'any'] AND n.word <> word AND n.word <> s.open[1].word | n.word] END AS second
WITH i, amr, turn, s, word, CASE WHEN size(second) > 0 THEN second[(turn + s.open[1].k) % size(second)] END AS other
OPTIONAL MATCH (:Term {text: replace(coalesce(CASE WHEN (turn + s.top) % 2 = 0 AND s.open[1].kind <> 'person' THEN other END, ''),
       '-', ' '), kind: s.open[1].kind})-[h:SHIFTS_TO]->(x:Term {kind: s.open[1].kind})
WITH i, amr, s, word, other, h.count AS amount, x.text AS text
ORDER BY i, amr, amount DESC, text
WITH i, amr, s, word, other, collect(text)[0] AS next
WITH i, amr, s, word, CASE WHEN next IS NULL OR next CONTAINS ' ' OR next = word THEN other ELSE next END AS other,
     amr + '<' + s.amr + '.' + toString(s.top) AS site
UNWIND [{amr: amr, k: 0, op: 'graft', from_amr: s.amr, from_k: s.top, site: site},
        {amr: amr, k: s.open[0].k, op: 'set', concept: word, copy_of: s.amr, site: site}]
  + CASE WHEN other IS NULL THEN []
      ELSE [{amr: amr, k: s.open[1].k, op: 'set', concept: other, copy_of: s.amr, site: site}] END AS edit
RETURN $dialogues[i].id AS dialogue, collect(edit) AS edits
