// corefer: Makes a pronoun, all its reentrancies with it, another pronoun or an entity of another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022, section 3), coreference inconsistency
//
// Before: A: I'm sorry that my dog barked all night.  B: I could not sleep at all.  A: He was afraid of the thunder.
// After:  A: I'm sorry that my dog barked all night.  B: I could not sleep at all.  A: She was afraid of the thunder.
// Graph:  (f / fear-01 :ARG0 (h / he) :ARG1 (t / thunder)) => (f / fear-01 :ARG0 (s / she) :ARG1 (t / thunder))
//
// Entities are small :ARG0 and :ARG1 subtrees of other turns. People can replace "he", "she", "we" and "they", things
// can replace "it", and both can replace "them".
//
// Departures from DEAM:
// - The entity that was mentioned last before the pronoun is its likely antecedent: it is never chosen. "It" is
//   replaced only by an entity of the antecedent's kind.
// - "He" becomes "she" (and the reverse) in the whole turn, and only where the change shows: the dialogue mentions
//   somebody of the other gender or tells who "he" is, or there is no entity to use instead.
// - Most sites are for whole dialogues. In a response only "he" and "she" clash with the context, and only where an
//   earlier turn tells who is meant.
UNWIND $dialogues AS d UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // Pronouns that can be changed.
  n.concept IN ['he', 'she', 'it', 'they', 'we']
  // Entities: nouns that are an agent or a patient, of at most four nodes ("my big brother").
  OR n.noun IS NOT NULL AND n.role IN ['ARG0', 'ARG1'] AND n.last - n.k < 4
WITH d.id AS dialogue, t.turn AS turn, n.k AS k, n ORDER BY dialogue, turn, k
WITH dialogue, collect({turn: turn, k: k, n: n, concept: n.concept, kind: n.kind, noun: n.noun,
       man: 'man' IN n.classes, woman: 'woman' IN n.classes}) AS ns
UNWIND [x IN ns WHERE x.noun IS NULL] AS p
WITH dialogue, p, p.n AS n, p.man OR p.woman AS single, coalesce(p.n.role, '') AS role,
     // Somebody of the other gender was mentioned, in this turn or before: "she" would be somebody else.
     any(x IN ns WHERE x.turn <= p.turn AND CASE WHEN p.man THEN x.woman ELSE x.man END) AS known,
     // An earlier turn tells who is meant: "my brother" ... "he".
     any(x IN ns WHERE x.turn < p.turn AND CASE WHEN p.man THEN x.man ELSE x.woman END) AS told,
     [e IN ns WHERE
       e.noun IS NOT NULL
       AND e.turn <> p.turn
       // "them" is said of people and of things: "I saw them".
       AND (p.concept = 'they' AND p.n.role = 'ARG1'
         // People for "he", "she", "we", "they", everything else for "it".
         OR (e.kind = 'person') = (p.concept <> 'it'))] AS fit
// The entity mentioned last before the pronoun: its likely antecedent.
WITH dialogue, p, n, single, role, known, told, fit, last([e IN fit WHERE e.turn < p.turn]) AS last
WITH dialogue, p, n, single, role, known, told, last,
     CASE
       // "It rains": this "it" names nothing, so nothing can replace it.
       WHEN n.expletive THEN []
       ELSE [e IN fit WHERE
         // No antecedent is known: any person is wrong. For "it" a thing of any kind would seldom make sense.
         last IS NULL AND p.concept <> 'it'
         // The antecedent itself would be right.
         OR e.concept <> last.concept
           // A bus does not run away like the dog that "it" refers to. "Them" can be of any kind.
           AND (e.kind = last.kind OR p.concept = 'they')]
     END AS fit
MATCH (n)-[:LEXEME]->(:Term)-[:MOVES_TO {how: 'person'}]->(x:Term)
WITH dialogue, p, n, x.text AS other, n.amr + '.' + toString(n.k) AS at,
     // Turn and node number choose one of the entities, so that the query needs no randomness.
     CASE WHEN size(fit) > 0 THEN fit[(p.turn + p.k) % size(fit)].n END AS entity,
     // As a response, "They are nice" may be right where "It is nice" was. "She is nice" is wrong after "my brother".
     CASE WHEN NOT single OR NOT told THEN 'dialogue' END AS target,
     CASE p.concept
       // "It is an idea" cannot become "They are an idea".
       WHEN 'it' THEN role <> 'domain'
         // "It rains" cannot become "They rain".
         AND n.expletive IS NULL
       // "their room" can be "its room" as well.
       WHEN 'they' THEN role <> 'poss'
         // A team or a town can be "they" or "it".
         AND NOT coalesce(last.kind, '') IN ['group', 'place']
       // "he" and "she" change where that shows, or where no entity can be used; "we" always may.
       ELSE size(fit) = 0 OR known OR told OR NOT single
     END AS turns
UNWIND
  // All nodes of one pronoun in a graph are one site: "He said that he would come" changes both.
  CASE WHEN turns THEN [{amr: n.amr, k: n.k, op: 'set', concept: other, target: target,
                         site: n.amr + '>' + p.concept + '>' + other}] ELSE [] END
  // Entities are for whole dialogues.
  + CASE WHEN entity IS NULL THEN [] ELSE [{amr: n.amr, k: n.k, op: 'graft', from_amr: entity.amr,
      from_k: entity.k, target: 'dialogue',
      site: at + '<' + entity.amr + '.' + toString(entity.k)}] END AS edit
RETURN dialogue, collect(edit) AS edits
