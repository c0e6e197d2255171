// irrelevant: Swaps a small ARG or op subtree with one of the same kind from another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), irrelevancy
//
// The pool is the role (objects :ARG1 and :ARG2 share one) and the rough kind: a person, a thing, what one wants
// or begins to do.
// A thing is a noun with nothing below but what goes before it or after of. Modifiers stay: another adjective
// seldom makes an answer wrong. So do pronouns, function words, greetings, what is inside a word (the lamp of a
// lamplighter) and what is asked for.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH d.id AS dialogue, t.amr AS amr, collect(n) AS ns
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
     [n IN heads WHERE n.concept IN ['want-01', 'try-01', 'begin-01', 'start-01', 'stop-01', 'continue-01', 'need-01',
       'like-01', 'like-02', 'love-01', 'hate-01', 'plan-01', 'decide-01', 'learn-01', 'promise-01', 'forget-01',
       'prefer-01', 'enjoy-01'] | n.k] AS deeds
WITH dialogue, amr, ns, asked, [n IN ns WHERE CASE WHEN n.role IN ['ARG0', 'ARG1', 'ARG2'] THEN true
         WHEN n.role STARTS WITH 'op' THEN n.up IN joints ELSE false END
       AND n.concept IS NOT NULL AND n.last - n.k < 6 AND NOT n.up IN reified
       AND CASE WHEN n.frame THEN n.role STARTS WITH 'ARG' AND n.up IN deeds
           ELSE n.role = 'ARG0' OR NOT n.up IN quoting END
       AND NOT n.concept IN ['i', 'you', 'he', 'she', 'it', 'we', 'they', 'one', 'this', 'that', 'amr-unknown', 'and',
         'or', 'multi-sentence', 'contrast-01', 'name', 'so', 'yes', 'no', 'all', 'any', 'some', 'each', 'every', 'other',
         'another', 'such', 'more', 'most', 'less', 'least', 'too', 'enough', 'very', 'only', 'also', 'just', 'even',
         'again', 'ever', 'still', 'already', 'both', 'anything', 'something', 'nothing', 'everything', 'truth-value',
         'own', 'same', 'well', 'please', 'perhaps', 'maybe', 'actual', 'indeed', 'here', 'there', 'home', 'next', 'last',
         'ordinal-entity', 'thing', 'everyone', 'everybody', 'someone', 'somebody', 'anyone', 'anybody', 'no-one', 'nobody',
         'none', 'oneself', 'self', 'by-oneself', 'lot', 'kind', 'sort', 'way', 'manner', 'location', 'place', 'sire', 'sir',
         'madam', 'majesty', 'hello', 'goodbye', 'hi', 'oh', 'ah', 'alas', 'morning', 'up', 'down', 'over', 'out', 'away',
         'back', 'far', 'near', 'once', 'against', 'in', 'on', 'off', 'from', 'to', 'with', 'else', 'alone', 'little', 'much',
         'many', 'few', 'bit', 'at-all', 'at-least', 'sum-of', 'number', 'interrogative']
       AND NOT n.concept ENDS WITH '-of' AND (n.last > n.k OR n.concept <> 'person')] AS found
UNWIND found AS n
WITH dialogue, amr, n, asked, CASE WHEN n.last = n.k THEN [] ELSE [k IN range(n.k + 1, n.last) |
       [c IN ns WHERE c.k = k][0]] END AS inside
WHERE NOT any(k IN asked WHERE k > n.k AND k <= n.last)
  AND (n.frame OR all(c IN inside WHERE n.concept = 'person'
        OR c.role IN ['mod', 'poss', 'quant', 'name', 'wiki', 'unit', 'ord', 'value', 'consist-of', 'polarity']
        OR c.role STARTS WITH 'op'))
WITH dialogue, {amr: amr, k: n.k, op: 'graft',
       pool: CASE WHEN n.role IN ['ARG1', 'ARG2'] THEN 'object' WHEN n.role STARTS WITH 'op' THEN 'op' ELSE n.role END
         + CASE WHEN n.frame THEN ' deed'
           WHEN n.concept IN ['person', 'man', 'woman', 'boy', 'girl', 'child', 'kid', 'baby', 'guy', 'lady', 'friend',
             'mother', 'father', 'mom', 'mum', 'dad', 'parent', 'brother', 'sister', 'son', 'daughter', 'uncle', 'aunt',
             'cousin', 'husband', 'wife', 'doctor', 'nurse', 'boss', 'king', 'queen', 'prince', 'princess', 'student',
             'professor', 'officer', 'people'] THEN ' person'
           WHEN n.concept ENDS WITH '-entity' OR n.concept ENDS WITH '-quantity' THEN ' ' + n.concept
           ELSE ' thing' END,
       own: reduce(own = n.concept, c IN inside | own + ' ' + coalesce(c.concept, c.value))} AS edit
RETURN dialogue, collect(edit) AS edits
