// corefer: Makes a pronoun, all its reentrancies with it, another pronoun or an entity of another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), coreference inconsistency
//
// Entities are small :ARG0 and :ARG1 subtrees: people for he, she, we and they, things for it,
// both for them. The one that was mentioned last before the pronoun, its likely antecedent, is
// never chosen, and in the place of a thing only another of its kind is. He becomes she, or she
// he, all over the turn, where one of that kind was spoken of, the context has told which of them
// it is, or there is no entity to take. In a response only he and she clash, and only where the
// context has told. What it is (an idea) they are not, nor are
// they the it that rains. Whose something is (their room) may be its as well.
UNWIND $dialogues AS d UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.concept IN ['he', 'she', 'it', 'they', 'we']
   OR n.noun IS NOT NULL AND n.role IN ['ARG0', 'ARG1'] AND n.last - n.k < 4
WITH d.id AS dialogue, t.turn AS turn, n.k AS k, n ORDER BY dialogue, turn, k
WITH dialogue, collect({turn: turn, k: k, n: n, concept: n.concept, kind: n.kind, noun: n.noun,
       man: 'man' IN n.classes, woman: 'woman' IN n.classes}) AS ns
UNWIND [x IN ns WHERE x.noun IS NULL] AS p
WITH dialogue, p, p.n AS n, p.man OR p.woman AS single, coalesce(p.n.role, '') AS role,
     any(x IN ns WHERE x.turn <= p.turn AND CASE WHEN p.man THEN x.woman ELSE x.man END) AS known,
     any(x IN ns WHERE x.turn < p.turn AND CASE WHEN p.man THEN x.man ELSE x.woman END) AS told,
     [e IN ns WHERE e.noun IS NOT NULL AND e.turn <> p.turn AND (p.concept = 'they'
       AND p.n.role = 'ARG1' OR (e.kind = 'person') = (p.concept <> 'it'))] AS fit
WITH dialogue, p, n, single, role, known, told, fit, last([e IN fit WHERE e.turn < p.turn]) AS last
WITH dialogue, p, n, single, role, known, told, last, CASE WHEN n.expletive THEN [] ELSE [e IN fit
       WHERE last IS NULL AND p.concept <> 'it' OR e.concept <> last.concept
         AND (e.kind = last.kind OR p.concept = 'they')] END AS fit
MATCH (n)-[:LEXEME]->(:Term)-[:MOVES_TO {how: 'person'}]->(x:Term)
WITH dialogue, p, n, x.text AS other, n.amr + '.' + toString(n.k) AS at, CASE WHEN size(fit) > 0
       THEN fit[(p.turn + p.k) % size(fit)].n END AS entity,
     CASE WHEN NOT single OR NOT told THEN 'dialogue' END AS target,
     CASE p.concept WHEN 'it' THEN role <> 'domain' AND n.expletive IS NULL
       WHEN 'they' THEN role <> 'poss' AND NOT coalesce(last.kind, '') IN ['group', 'place']
       ELSE size(fit) = 0 OR known OR told OR NOT single END AS turns
UNWIND CASE WHEN turns THEN [{amr: n.amr, k: n.k, op: 'set', concept: other, target: target,
                              site: n.amr + '>' + p.concept + '>' + other}] ELSE [] END
  + CASE WHEN entity IS NULL THEN [] ELSE [{amr: n.amr, k: n.k, op: 'graft', from_amr: entity.amr,
      from_k: entity.k, target: 'dialogue',
      site: at + '<' + entity.amr + '.' + toString(entity.k)}] END AS edit
RETURN dialogue, collect(edit) AS edits
