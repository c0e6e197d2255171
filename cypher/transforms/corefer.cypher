// corefer: Makes a pronoun, all its reentrancies with it, another pronoun or an entity of another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), coreference inconsistency
//
// Entities are small :ARG0 and :ARG1 subtrees: people for he, she, we and they, things for it, both for them. The
// one that was mentioned last before the pronoun, its likely antecedent, is never chosen, and in the place of a thing
// only another of its kind is. He becomes she, or she he, where one of that kind was spoken of, or there is no
// entity to take: in a response alone, only if the context has told which of them it is. What it is (an idea) they
// are not, nor are they the it that rains. Whose something is (their room) may be its as well.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE CASE WHEN n.concept IN ['he', 'she', 'it', 'they', 'we'] THEN true ELSE n.role IN ['ARG0', 'ARG1'] AND n.frame IS NULL AND n.last - n.k < 4 AND n.concept IS NOT NULL
       AND coalesce(n.kind, 'thing') <> 'other'
       AND NOT n.concept IN ['i', 'you', 'he', 'she', 'it', 'we', 'they', 'one', 'this',
         'that', 'amr-unknown', 'name', 'and', 'or', 'multi-sentence', 'so', 'yes', 'no', 'other', 'all', 'anything',
         'something', 'nothing', 'everything', 'truth-value', 'more', 'most', 'less', 'least', 'too', 'enough',
         'thing', 'someone', 'somebody', 'anyone', 'anybody', 'everyone', 'everybody', 'no-one', 'nobody', 'none', 'self',
         'oneself', 'lot', 'kind', 'sort', 'way', 'location', 'place', 'sire', 'sir', 'madam', 'hello', 'goodbye', 'hi', 'oh',
         'ah', 'morning', 'afternoon', 'evening', 'night', 'up', 'down', 'over', 'out', 'away', 'back', 'far', 'near', 'once',
         'against', 'in', 'on', 'off', 'from', 'to', 'with', 'else', 'alone', 'little', 'much', 'many', 'few', 'bit', 'home', 'time', 'idea', 'fact', 'future', 'course', 'fun']
       AND NOT n.concept ENDS WITH '-of' AND NOT n.concept ENDS WITH '-entity' AND NOT n.concept ENDS WITH '-quantity'
       AND (n.last > n.k OR n.concept <> 'person') END
WITH i, t.turn AS turn, t.amr AS amr, n.k AS k, n.role AS role, n.concept AS concept, coalesce(n.kind, 'thing') AS kind,
     CASE WHEN n.concept = 'it' THEN [(n)<-[:ROLE]-(p:AmrNode) | p.concept] ELSE [] END AS above
ORDER BY i, turn, k
WITH i, collect({turn: turn, k: k, amr: amr, role: role, concept: concept, kind: kind, empty: any(c IN above WHERE c IN ['rain-01', 'snow-01',
       'hot-05', 'cold-01', 'warm-06', 'time', 'seem-01', 'appear-02', 'matter-01', 'possible-01', 'happen-01', 'happen-02', 'turn-out-11',
       'take-10', 'obvious-01', 'clear-06', 'late', 'early', 'dark', 'dark-02', 'say-01', 'say-02', 'difficult', 'easy-05', 'hard-02',
       'true-01', 'important-01', 'good-02', 'bad-07', 'okay-04', 'fun-01', 'nice-01', 'make-02', 'make-it-14', 'make-05', 'get-06',
       'interest-01', 'surprise-01', 'amaze-01', 'find-02', 'consider-01', 'believe-01', 'hope-01'])}) AS ns
WITH i, [n IN ns WHERE n.concept IN ['he', 'she', 'it', 'they', 'we']] AS pronouns,
     [n IN ns WHERE NOT n.concept IN ['he', 'she', 'it', 'they', 'we']] AS entities
UNWIND pronouns AS p
WITH i, p, entities, pronouns + entities AS said,
     ['he', 'man', 'boy', 'father', 'dad', 'brother', 'son', 'uncle', 'husband', 'gentleman', 'guy', 'grandfather', 'boyfriend',
       'king', 'prince'] AS men,
     ['she', 'woman', 'girl', 'mother', 'mom', 'mum', 'sister', 'daughter', 'aunt', 'wife', 'lady', 'grandmother',
       'girlfriend', 'queen', 'princess', 'nurse'] AS women
WITH i, p, entities, p.concept IN ['he', 'she'] AS single,
     [x IN said WHERE x.turn <= p.turn AND x.concept IN CASE p.concept WHEN 'he' THEN women ELSE men END][0..1] AS others,
     [x IN said WHERE x.turn < p.turn AND x.concept IN CASE p.concept WHEN 'he' THEN men ELSE women END][0..1] AS same
WITH i, p, single, size(others) > 0 AS known, size(same) > 0 AS told,
     [e IN entities WHERE e.amr <> p.amr AND (p.concept = 'they' AND p.role = 'ARG1'
       OR (e.kind = 'person') = (p.concept <> 'it') OR e.kind = 'thing')] AS fit
WITH i, p, single, known, told, fit, [e IN fit WHERE e.turn < p.turn] AS before
WITH i, p, single, known, told, before, before[size(before) - 1] AS last, fit
WITH i, p, single, known, told, last, CASE WHEN p.empty THEN [] ELSE [e IN fit WHERE last IS NULL AND p.concept <> 'it'
       OR e.concept <> last.concept AND (e.kind = last.kind OR p.concept = 'they')] END AS fit
WITH i, p, single, known, told, last, CASE p.concept WHEN 'he' THEN 'she' WHEN 'she' THEN 'he' WHEN 'it' THEN 'they' WHEN 'they' THEN 'it'
       ELSE 'they' END AS other,
     CASE WHEN size(fit) > 0 THEN fit[(p.turn + p.k) % size(fit)] END AS entity
UNWIND CASE
  WHEN p.concept = 'it' AND (p.role = 'domain' OR p.empty) THEN CASE WHEN entity IS NULL THEN [] ELSE [entity] END
  WHEN p.concept = 'they' AND (p.role = 'poss' OR last.kind IN ['group', 'place']) THEN CASE WHEN entity IS NULL THEN [] ELSE [entity] END
  WHEN entity IS NULL THEN [null]
  WHEN NOT single OR known THEN [null, entity]
  ELSE [entity] END AS e
RETURN $dialogues[i].id AS dialogue, collect(CASE WHEN e IS NULL
    THEN {amr: p.amr, k: p.k, op: 'set', concept: other, site: p.amr + '.' + toString(p.k) + '>' + other,
      target: CASE WHEN single AND NOT known AND NOT told THEN 'dialogue' END}
    ELSE {amr: p.amr, k: p.k, op: 'graft', from_amr: e.amr, from_k: e.k,
      site: p.amr + '.' + toString(p.k) + '<' + e.amr + '.' + toString(e.k)} END) AS edits
