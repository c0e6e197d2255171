// irrelevant: Swaps a small ARG or op subtree with one of the same kind from another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), irrelevancy
//
// The pool is the role (objects :ARG1 and :ARG2 share one) and the kind of noun (a person, a place, something to
// eat), or what one wants or begins to do: what a verb takes of a kind, it takes another of, mostly. What one can
// have, buy or see are things of any kind, what one learns, opens or plays only what somebody else does.
// A thing is a noun with nothing below but what goes before it or after of. Modifiers stay: another adjective
// seldom makes an answer wrong. So do pronouns, function words, greetings, what is inside a word (the lamp of a
// lamplighter) and what is asked for, names that are used or read (the parser took a thing for a person), and deeds
// of something that is no person.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH d.id AS dialogue, t.amr AS amr, collect(n {.k, .last, .up, .role, .concept, .value, .frame, .kind}) AS ns
WITH dialogue, amr, ns, [n IN ns WHERE n.last > n.k AND n.concept IS NOT NULL] AS heads,
     [n IN ns WHERE n.concept IN ['amr-unknown', 'truth-value'] | n.k] AS asked
WITH dialogue, amr, ns, asked,
     [n IN heads WHERE n.concept IN ['and', 'or'] AND n.role IN ['ARG0', 'ARG1', 'ARG2'] | n.k] AS joints,
     [n IN heads WHERE CASE WHEN n.concept ENDS WITH '-91' THEN true WHEN n.frame AND n.role ENDS WITH '-of'
       THEN any(p IN heads WHERE p.k = n.up AND p.concept IN ['person', 'thing', 'vehicle', 'machine'])
       ELSE false END | n.k] AS reified,
     [n IN heads WHERE n.concept IN ['say-01', 'tell-01', 'ask-01', 'reply-01', 'answer-01', 'respond-01', 'exclaim-01',
       'repeat-01', 'add-01', 'cry-01', 'call-01', 'call-03', 'murmur-01', 'object-01', 'order-01', 'remark-01', 'demand-01',
       'inquire-01', 'greet-01', 'wish-01', 'thank-01', 'think-01', 'mean-01', 'resemble-01', 'equal-01'] | n.k] AS quoting,
     [n IN heads WHERE n.concept IN ['learn-01', 'study-01', 'speak-01', 'solve-01', 'close-01', 'open-01', 'play-01', 'play-11', 'play-02',
       'fill-01', 'win-01'] | {k: n.k, concept: ' ' + n.concept}] AS choosy,
     [n IN heads WHERE n.concept IN ['want-01', 'try-01', 'begin-01', 'start-01', 'stop-01', 'continue-01', 'need-01',
       'like-01', 'like-02', 'love-01', 'hate-01', 'plan-01', 'decide-01', 'learn-01', 'promise-01', 'forget-01',
       'prefer-01', 'enjoy-01'] | n.k] AS deeds,
     [n IN heads WHERE n.concept IN ['use-01', 'read-01', 'watch-01', 'play-01', 'open-01', 'buy-01', 'sell-01', 'eat-01', 'drink-01',
       'drive-01', 'wear-01', 'write-01', 'win-01', 'cost-01'] | n.k] AS used,
     [n IN heads WHERE n.concept IN ['have-03', 'have-01', 'buy-01', 'see-01', 'lose-02', 'like-01', 'like-02', 'love-01', 'hate-01',
       'bring-01', 'want-01', 'take-01', 'get-01', 'need-01', 'find-01', 'forget-01', 'leave-13', 'sell-01', 'give-01', 'send-01',
       'show-01', 'offer-01', 'keep-01', 'carry-01', 'drop-01', 'put-01', 'choose-01', 'prefer-01', 'remember-01', 'know-02',
       'look-01', 'describe-01', 'mention-01', 'use-01', 'check-01', 'afford-01', 'recommend-01', 'order-02', 'own-01', 'rent-01', 'steal-01', 'borrow-01',
       'lend-02', 'receive-01', 'return-02', 'share-01', 'hold-01', 'throw-01', 'draw-01', 'think-01', 'talk-01', 'miss-02', 'fear-01'] | n.k] AS handling
WITH dialogue, amr, ns, asked, joints, reified, quoting, choosy, deeds, used, handling,
     CASE WHEN size(deeds) = 0 THEN [] ELSE [n IN ns WHERE n.role = 'ARG0' AND n.kind IS NOT NULL
       AND NOT n.kind IN ['person', 'other', 'group'] | n.up] END AS driven
WITH dialogue, amr, ns, asked, choosy, handling, [n IN ns WHERE CASE WHEN n.role IN ['ARG0', 'ARG1', 'ARG2'] THEN true
         WHEN n.role STARTS WITH 'op' THEN n.up IN joints ELSE false END
       AND n.concept IS NOT NULL AND n.last - n.k < 6 AND NOT n.up IN reified
       AND CASE WHEN n.frame THEN n.role STARTS WITH 'ARG' AND n.up IN deeds AND NOT n.k IN driven AND NOT n.up IN driven
           ELSE n.role = 'ARG0' OR NOT n.up IN quoting AND NOT (n.concept = 'person' AND n.up IN used) END
       AND NOT n.concept IN ['i', 'you', 'he', 'she', 'it', 'we', 'they', 'one', 'this', 'that', 'amr-unknown', 'and',
         'or', 'multi-sentence', 'contrast-01', 'name', 'so', 'yes', 'no', 'all', 'any', 'some', 'each', 'every', 'other',
         'another', 'such', 'more', 'most', 'less', 'least', 'too', 'enough', 'very', 'only', 'also', 'just', 'even',
         'again', 'ever', 'still', 'already', 'both', 'anything', 'something', 'nothing', 'everything', 'truth-value',
         'own', 'same', 'well', 'please', 'perhaps', 'maybe', 'actual', 'indeed', 'here', 'there', 'home', 'next', 'last',
         'ordinal-entity', 'thing', 'everyone', 'everybody', 'someone', 'somebody', 'anyone', 'anybody', 'no-one', 'nobody',
         'none', 'oneself', 'self', 'by-oneself', 'lot', 'kind', 'sort', 'way', 'manner', 'location', 'place', 'sire', 'sir',
         'madam', 'majesty', 'hello', 'goodbye', 'hi', 'oh', 'ah', 'alas', 'morning', 'up', 'down', 'over', 'out', 'away',
         'back', 'far', 'near', 'once', 'against', 'in', 'on', 'off', 'from', 'to', 'with', 'else', 'alone', 'little', 'much',
         'many', 'few', 'bit', 'at-all', 'at-least', 'sum-of', 'number', 'interrogative', 'time', 'idea', 'fact', 'future', 'course', 'fun']
       AND NOT n.concept ENDS WITH '-of' AND (n.last > n.k OR n.concept <> 'person')
       AND (coalesce(n.kind, '') <> 'other' OR n.concept ENDS WITH '-entity' OR n.concept ENDS WITH '-quantity')] AS found
UNWIND found AS n
WITH dialogue, amr, n, asked, choosy, handling, CASE WHEN n.last = n.k THEN [] ELSE [k IN range(n.k + 1, n.last) |
       [c IN ns WHERE c.k = k][0]] END AS inside
WHERE NOT any(k IN asked WHERE k > n.k AND k <= n.last)
  AND (n.frame OR all(c IN inside WHERE n.concept = 'person'
        OR c.role IN ['mod', 'poss', 'quant', 'name', 'wiki', 'unit', 'ord', 'value', 'consist-of', 'polarity']
        OR c.role STARTS WITH 'op'))
WITH dialogue, {amr: amr, k: n.k, op: 'graft',
       pool: CASE WHEN n.role IN ['ARG1', 'ARG2'] THEN 'object' WHEN n.role STARTS WITH 'op' THEN 'op' ELSE n.role END
         + CASE WHEN n.frame THEN ' deed'
           WHEN n.concept ENDS WITH '-entity' OR n.concept ENDS WITH '-quantity' THEN ' ' + n.concept
           WHEN n.up IN handling AND n.kind IN ['object', 'clothes', 'work', 'food', 'drink', 'plant', 'vehicle', 'animal']
             THEN ' thing'
           ELSE ' ' + coalesce(n.kind, 'thing') END + coalesce([c IN choosy WHERE c.k = n.up AND n.role <> 'ARG0' | c.concept][0], ''),
       own: reduce(own = n.concept, c IN inside | own + ' ' + coalesce(c.concept, c.value))} AS edit
RETURN dialogue, collect(edit) AS edits
