// corefer: Makes a pronoun, all its reentrancies with it, another pronoun or an entity of another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), coreference inconsistency
//
// Entities are small :ARG0 and :ARG1 subtrees: things for it, people for the others, both for them. The kind
// that was mentioned last before the pronoun, its likely antecedent, is never chosen. He becomes she, or she
// he, where one of that kind was spoken of, or there is no entity to take. What it is (an idea) they are not.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE CASE WHEN n.concept IN ['he', 'she', 'it', 'they', 'we'] THEN true ELSE n.role IN ['ARG0', 'ARG1'] AND n.frame IS NULL AND n.last - n.k < 4 AND n.concept IS NOT NULL
       AND NOT n.concept IN ['i', 'you', 'he', 'she', 'it', 'we', 'they', 'one', 'this',
         'that', 'amr-unknown', 'name', 'and', 'or', 'multi-sentence', 'so', 'yes', 'no', 'other', 'all', 'anything',
         'something', 'nothing', 'everything', 'truth-value', 'more', 'most', 'less', 'least', 'too', 'enough',
         'thing', 'someone', 'somebody', 'anyone', 'anybody', 'everyone', 'everybody', 'no-one', 'nobody', 'none', 'self',
         'oneself', 'lot', 'kind', 'sort', 'way', 'location', 'place', 'sire', 'sir', 'madam', 'hello', 'goodbye', 'hi', 'oh',
         'ah', 'morning', 'afternoon', 'evening', 'night', 'up', 'down', 'over', 'out', 'away', 'back', 'far', 'near', 'once',
         'against', 'in', 'on', 'off', 'from', 'to', 'with', 'else', 'alone', 'little', 'much', 'many', 'few', 'bit']
       AND NOT n.concept ENDS WITH '-of' AND NOT n.concept ENDS WITH '-entity' AND NOT n.concept ENDS WITH '-quantity'
       AND (n.last > n.k OR n.concept <> 'person') END
WITH i, t.turn AS turn, t.amr AS amr, n.k AS k, n.role AS role, n.concept AS concept
ORDER BY i, turn, k
WITH i, collect({turn: turn, k: k, amr: amr, role: role, concept: concept, person: concept IN ['person', 'man', 'woman', 'boy',
         'girl', 'child', 'kid', 'baby', 'guy', 'lady', 'gentleman', 'friend', 'mother', 'father', 'mom', 'mum', 'dad',
         'parent', 'brother', 'sister', 'son', 'daughter', 'uncle', 'aunt', 'cousin', 'husband', 'wife', 'grandmother',
         'grandfather', 'boyfriend', 'girlfriend', 'neighbor', 'neighbour', 'doctor', 'nurse', 'boss', 'king', 'queen',
         'prince', 'princess', 'student', 'professor', 'officer', 'people', 'family', 'guest', 'stranger']}) AS ns
WITH i, [n IN ns WHERE n.concept IN ['he', 'she', 'it', 'they', 'we']] AS pronouns,
     [n IN ns WHERE NOT n.concept IN ['he', 'she', 'it', 'they', 'we']] AS entities
UNWIND pronouns AS p
WITH i, p, entities, CASE p.concept WHEN 'he' THEN ['she', 'woman', 'girl', 'mother', 'mom', 'mum', 'sister', 'daughter', 'aunt', 'wife', 'lady',
         'grandmother', 'girlfriend', 'queen', 'princess', 'nurse']
       WHEN 'she' THEN ['he', 'man', 'boy', 'father', 'dad', 'brother', 'son', 'uncle', 'husband', 'gentleman', 'guy', 'grandfather',
         'boyfriend', 'king', 'prince', 'boss'] ELSE [] END AS others, pronouns + entities AS said
WITH i, p, entities, size(others) = 0 OR any(x IN said WHERE x.turn <= p.turn AND x.concept IN others) AS known
WITH i, p, known, [e IN entities WHERE e.amr <> p.amr AND (p.concept = 'they' AND p.role = 'ARG1' OR e.person = (p.concept <> 'it'))] AS fit
WITH i, p, known, fit, [e IN fit WHERE e.turn < p.turn | e.concept] AS before
WITH i, p, known, [e IN fit WHERE size(before) = 0 OR e.concept <> before[size(before) - 1]] AS fit
WITH i, p, known, CASE p.concept WHEN 'he' THEN 'she' WHEN 'she' THEN 'he' WHEN 'it' THEN 'they' WHEN 'they' THEN 'it'
       ELSE 'they' END AS other,
     CASE WHEN size(fit) > 0 THEN fit[(p.turn + p.k) % size(fit)] END AS entity
UNWIND CASE WHEN p.concept = 'it' AND p.role = 'domain' THEN CASE WHEN entity IS NULL THEN [] ELSE [entity] END
  WHEN entity IS NULL THEN [null] WHEN known THEN [null, entity] ELSE [entity] END AS e
RETURN $dialogues[i].id AS dialogue, collect(CASE WHEN e IS NULL
    THEN {amr: p.amr, k: p.k, op: 'set', concept: other, site: p.amr + '.' + toString(p.k) + '>' + other}
    ELSE {amr: p.amr, k: p.k, op: 'graft', from_amr: e.amr, from_k: e.k,
      site: p.amr + '.' + toString(p.k) + '<' + e.amr + '.' + toString(e.k)} END) AS edits
