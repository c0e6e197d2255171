// irrelevant: Swaps a small ARG, op or mod subtree with one of the same kind from another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), irrelevancy
//
// The pool is the role (objects :ARG1 and :ARG2 share one) and the rough kind: a person, a thing, what one wants
// or has to do, what one says or thinks.
// Pronouns, function words and question words are never swapped.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH d.id AS dialogue, t.amr AS amr, n, n.k AS k
ORDER BY amr, k
WITH dialogue, amr, collect(n) AS ns
WITH dialogue, amr, ns,
     [n IN ns WHERE n.concept IN ['and', 'or'] | n.k] AS joints,
     [n IN ns WHERE n.concept ENDS WITH '-91' | n.k] AS reified,
     [n IN ns WHERE n.concept IN ['want-01', 'try-01', 'begin-01', 'start-01', 'stop-01', 'continue-01', 'need-01',
       'like-01', 'like-02', 'love-01', 'hate-01', 'plan-01', 'decide-01', 'learn-01', 'promise-01', 'forget-01',
       'prefer-01', 'enjoy-01'] | n.k] AS deeds,
     [n IN ns WHERE n.concept IN ['say-01', 'tell-01', 'think-01', 'believe-01', 'know-01', 'hear-01', 'hope-01',
       'mean-01', 'understand-01', 'remember-01', 'suppose-01', 'agree-01', 'doubt-01', 'fear-01'] | n.k] AS words,
     [n IN ns WHERE n.concept IN ['amr-unknown', 'truth-value'] | n.k] AS asked
WITH dialogue, amr, ns, asked, deeds, [n IN ns WHERE n.concept IS NOT NULL AND n.last - n.k < 6
       AND (n.role IN ['ARG0', 'ARG1', 'ARG2', 'mod'] OR n.role STARTS WITH 'op' AND n.up IN joints)
       AND NOT (n.up IN reified AND n.role <> 'ARG1')
       AND (n.frame IS NULL OR n.role STARTS WITH 'ARG' AND n.up IN deeds + words)
       AND NOT n.concept IN ['i', 'you', 'he', 'she', 'it', 'we', 'they', 'one', 'this', 'that', 'amr-unknown', 'and',
         'or', 'multi-sentence', 'contrast-01', 'name', 'so', 'yes', 'no', 'all', 'any', 'some', 'each', 'every', 'other',
         'another', 'such', 'more', 'most', 'less', 'least', 'too', 'enough', 'very', 'only', 'also', 'just', 'even',
         'again', 'ever', 'still', 'already', 'both', 'anything', 'something', 'nothing', 'everything', 'truth-value',
         'own', 'same', 'well', 'please', 'perhaps', 'maybe', 'actual', 'indeed', 'here', 'there', 'home', 'next', 'last', 'ordinal-entity']
       AND (n.last > n.k OR NOT n.concept IN ['person', 'thing'])] AS found
UNWIND found AS n
WITH dialogue, amr, n, ns, asked, deeds
WHERE NOT any(k IN asked WHERE k > n.k AND k <= n.last)
WITH dialogue, amr, n, deeds, ns[n.k + 1..n.last + 1] AS inside
WITH dialogue, {amr: amr, k: n.k, op: 'graft',
       pool: CASE WHEN n.role IN ['ARG1', 'ARG2'] THEN 'object' WHEN n.role STARTS WITH 'op' THEN 'op' ELSE n.role END
         + CASE WHEN n.frame AND n.up IN deeds THEN ' deed'
           WHEN n.frame THEN ' clause'
           WHEN n.concept IN ['person', 'man', 'woman', 'boy', 'girl', 'child', 'kid', 'baby', 'guy', 'lady', 'friend',
             'mother', 'father', 'mom', 'mum', 'dad', 'parent', 'brother', 'sister', 'son', 'daughter', 'uncle', 'aunt',
             'cousin', 'husband', 'wife', 'doctor', 'nurse', 'boss', 'king', 'queen', 'prince', 'princess', 'student',
             'professor', 'officer', 'people'] THEN ' person'
           WHEN n.concept ENDS WITH '-entity' OR n.concept ENDS WITH '-quantity' THEN ' ' + n.concept
           ELSE ' thing' END,
       own: reduce(own = n.concept, c IN inside | own + ' ' + coalesce(c.concept, c.value))} AS edit
RETURN dialogue, collect(edit) AS edits
