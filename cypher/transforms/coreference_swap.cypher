// coreference_swap: Replaces a pronoun, with all its reentrancies, by another pronoun or by an entity of another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022, section 3), coreference inconsistency
//
// Before: A: I'm sorry that my dog barked all night.  B: I could not sleep at all.  A: He was afraid of the thunder.
// After:  A: I'm sorry that my dog barked all night.  B: I could not sleep at all.  A: She was afraid of the thunder.
// Graph:  (f / fear-01 :ARG0 (h / he) :ARG1 (t / thunder)) => (f / fear-01 :ARG0 (s / she) :ARG1 (t / thunder))
//
// Entities are small :ARG0 and :ARG1 subtrees of other turns. An entity that is a person can replace "he", "she", "we"
// and "they", a thing can replace "it", and both can replace "them".
//
// Departures from DEAM:
// - The entity mentioned last before the pronoun is its likely antecedent, so the pronoun is never replaced by this
//   entity. "It" is replaced only by an entity of the same kind as the antecedent.
// - "He" becomes "she" (and the reverse) in the whole turn. This is done only if readers can notice it: the dialogue
//   mentions somebody of the other gender, or an earlier turn tells who "he" is. It is also done if there is no entity
//   to use instead.
// - Most sites are for whole dialogues. In a response, only a changed "he" or "she" clashes with the context, and only if
//   an earlier turn tells who is meant.
UNWIND $dialogues AS d UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // Match the pronouns that can be changed.
  n.concept IN ['he', 'she', 'it', 'they', 'we']
  // Match the entities: agents and patients of at most four nodes ("my big brother").
  OR n.coarse_kind IS NOT NULL AND n.role IN ['ARG0', 'ARG1'] AND n.subtree_last - n.position < 4
WITH d.id AS dialogue, t.turn AS turn, n.position AS position, n ORDER BY dialogue, turn, position
WITH dialogue, collect({turn: turn, position: position, n: n, concept: n.concept, kind: n.kind, coarse_kind: n.coarse_kind,
       man: 'man' IN n.classes, woman: 'woman' IN n.classes}) AS ns
UNWIND [x IN ns WHERE x.coarse_kind IS NULL] AS p
WITH dialogue, p, p.n AS n, p.man OR p.woman AS single, coalesce(p.n.role, '') AS role,
     // Whether somebody of the other gender was mentioned, in this turn or before. The new pronoun would then refer to
     // this person.
     any(x IN ns WHERE x.turn <= p.turn AND CASE WHEN p.man THEN x.woman ELSE x.man END) AS known,
     // Whether an earlier turn tells who is meant, as "my brother" does for "he".
     any(x IN ns WHERE x.turn < p.turn AND CASE WHEN p.man THEN x.man ELSE x.woman END) AS told,
     [e IN ns WHERE
       e.coarse_kind IS NOT NULL
       AND e.turn <> p.turn
       // "Them", as in "I saw them", can refer to people or things, so that any entity can replace it.
       AND (p.concept = 'they' AND p.n.role = 'ARG1'
         // Only people can replace "he", "she", "we" and "they"; only other entities can replace "it".
         OR (e.kind = 'person') = (p.concept <> 'it'))] AS fit
// Find the entity mentioned last before the pronoun, which is its likely antecedent.
WITH dialogue, p, n, single, role, known, told, fit, last([e IN fit WHERE e.turn < p.turn]) AS last
WITH dialogue, p, n, single, role, known, told, last,
     CASE
       // In "It rains", "it" refers to nothing, so nothing can replace it.
       WHEN n.expletive THEN []
       ELSE [e IN fit WHERE
         // If no antecedent is known, any person is wrong. For "it", a thing of any kind would seldom make sense.
         last IS NULL AND p.concept <> 'it'
         // Exclude the antecedent, because replacing a pronoun by its antecedent is no error.
         OR e.concept <> last.concept
           // The entity must be of the antecedent's kind: if "it" refers to a dog that ran away, a bus does not fit.
           // "Them" can be replaced by an entity of any kind.
           AND (e.kind = last.kind OR p.concept = 'they')]
     END AS fit
MATCH (n)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'person'}]->(x:Term)
WITH dialogue, p, n, x.text AS other, n.amr + '.' + toString(n.position) AS at,
     // Choose one of the entities by the numbers of turn and node, because a query has no seeded randomness.
     CASE WHEN size(fit) > 0 THEN fit[(p.turn + p.position) % size(fit)].n END AS entity,
     // In a response, "They are nice" may be as right as "It is nice" was. "She is nice" is wrong after "my brother".
     CASE WHEN NOT single OR NOT told THEN 'dialogue' END AS target,
     CASE p.concept
       // Do not change "It is an idea" to "They are an idea".
       WHEN 'it' THEN role <> 'domain'
         // Do not change "It rains" to "They rain".
         AND n.expletive IS NULL
       // Do not change "their room" to "its room": both can be right.
       WHEN 'they' THEN role <> 'poss'
         // Do not change "they" to "it" for a team or a town: both can be right.
         AND NOT coalesce(last.kind, '') IN ['group', 'place']
       // Change "he" and "she" if readers can notice it, or if no entity can be used. "We" can always be changed.
       ELSE size(fit) = 0 OR known OR told OR NOT single
     END AS turns
UNWIND
  // All nodes of one pronoun in a graph form one site, so that both change in "He said that he would come".
  CASE WHEN turns THEN [{amr: n.amr, position: n.position, op: 'set', concept: other, target: target,
                         site: n.amr + '>' + p.concept + '>' + other}] ELSE [] END
  // Sites that use an entity are for whole dialogues.
  + CASE WHEN entity IS NULL THEN [] ELSE [{amr: n.amr, position: n.position, op: 'graft', from_amr: entity.amr,
      from_position: entity.position, target: 'dialogue',
      site: at + '<' + entity.amr + '.' + toString(entity.position)}] END AS edit
RETURN dialogue, collect(edit) AS edits
