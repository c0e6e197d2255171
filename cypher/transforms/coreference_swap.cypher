// coreference_swap: Replaces a pronoun, with all its reentrancies, by another pronoun or by an entity of another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022, section 3), coreference inconsistency
//
// Before: A: I'm sorry that my dog barked all night.  B: I could not sleep at all.  A: He was afraid of the thunder.
// After:  A: I'm sorry that my dog barked all night.  B: I could not sleep at all.  A: She was afraid of the thunder.
// Graph:  (f / fear-01 :ARG0 (h / he) :ARG1 (t / thunder)) => (f / fear-01 :ARG0 (s / she) :ARG1 (t / thunder))
//
// Entities are small :ARG0 and :ARG1 subtrees of other turns. A person can replace "he", "she", "we" and "they". A
// thing can replace "it". Both can replace "them". The query works in three steps:
//   1. Collect the pronouns and the entities of the dialogue.
//   2. Find the likely antecedent of each pronoun, and the entities that can replace the pronoun.
//   3. Choose the new pronoun or entity.
//
// Departures from DEAM:
// - The entity mentioned last before the pronoun is its likely antecedent, so the pronoun is never replaced by this
//   entity. "It" is replaced only by an entity of the same kind as the antecedent.
// - "He" becomes "she" (and the reverse) in the whole turn if readers can notice the change: the dialogue mentions
//   somebody of the other gender, or an earlier turn tells who "he" is. "He" also becomes "she" if there is no entity
//   that could replace the pronoun.
// - Most edits are only for negatives of whole dialogues. In a response, only a changed "he" or "she" clashes with the
//   context, and only if an earlier turn tells who is meant.

// Step 1: collect the pronouns and the entities of each dialogue in the order in which they are mentioned.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is a pronoun that can be changed.
  n.concept IN ['he', 'she', 'it', 'they', 'we']
  // The node is an entity: an agent or patient of at most four nodes, such as "my big brother".
  OR n.coarse_kind IS NOT NULL
    AND n.role IN ['ARG0', 'ARG1']
    AND n.subtree_last - n.position < 4
WITH d.id AS dialogue, t.turn AS turn, n.position AS position, n
ORDER BY dialogue, turn, position
WITH dialogue, collect({
       turn: turn, position: position, node: n, concept: n.concept, kind: n.kind, coarse_kind: n.coarse_kind,
       man: 'man' IN n.classes, woman: 'woman' IN n.classes}) AS nodes

// Step 2: find the likely antecedent of each pronoun, and the entities that can replace the pronoun.
UNWIND [n IN nodes WHERE n.coarse_kind IS NULL] AS p
WITH dialogue, p, p.node AS n, coalesce(p.node.role, '') AS role,
     p.man OR p.woman AS he_or_she,
     // True if a person of the other gender is mentioned in this turn or earlier. If "he" became "she" after
     // "my sister", then "she" would refer to the sister.
     any(x IN nodes WHERE x.turn <= p.turn AND CASE WHEN p.man THEN x.woman ELSE x.man END) AS other_gender_mentioned,
     // Whether an earlier turn tells who is meant: "my brother" for "he".
     any(x IN nodes WHERE x.turn < p.turn AND CASE WHEN p.man THEN x.man ELSE x.woman END) AS referent_mentioned,
     [e IN nodes WHERE
       e.coarse_kind IS NOT NULL
       // The entity is from another turn. An entity of the same turn is often an argument of the same predicate: "My
       // dog saw it" must not become "My dog saw my dog".
       AND e.turn <> p.turn
       AND (
         // "Them", as in "I saw them", can refer to people or things, so any entity can replace it.
         p.concept = 'they' AND p.node.role = 'ARG1'
         // Only people can replace "he", "she", "we" and "they". Only other entities can replace "it".
         OR (e.kind = 'person') = (p.concept <> 'it'))] AS entities
WITH dialogue, p, n, role, he_or_she, other_gender_mentioned, referent_mentioned, entities,
     // Assume that the pronoun refers to the entity that was mentioned last before it.
     last([e IN entities WHERE e.turn < p.turn]) AS antecedent
WITH dialogue, p, n, role, he_or_she, other_gender_mentioned, referent_mentioned, antecedent,
     CASE
       // In "It rains", "it" refers to nothing, so nothing can replace it.
       WHEN n.expletive THEN []
       ELSE [e IN entities WHERE
         // If the antecedent of "he" is unknown, any person in its place is wrong, so all people are allowed. "It" is
         // not replaced then, because a thing of an arbitrary kind would seldom make sense.
         antecedent IS NULL AND p.concept <> 'it'
         // The entity must differ from the antecedent, because replacing a pronoun by its antecedent does not make the
         // text wrong: "My brother came. My brother was late."
         OR e.concept <> antecedent.concept
           AND (
             // If "it" refers to a dog that ran away, a cat can replace it, but a bus cannot.
             e.kind = antecedent.kind
             // "They" and "them" can be replaced by an entity of any kind.
             OR p.concept = 'they')]
     END AS entities

// Step 3: choose the pronoun and the entity that may replace the old pronoun.
MATCH (n)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'person'}]->(x:Term)
WITH dialogue, p, n, x.text AS new_pronoun, n.amr + '.' + toString(n.position) AS at,
     // The turn number and the position of the pronoun determine which of the entities is used, because Cypher has no
     // seeded random function.
     CASE WHEN size(entities) > 0 THEN entities[(p.turn + p.position) % size(entities)].node END AS new_entity,
     // If "It is nice" becomes "They are nice" in a response, the response may still be correct, so only edit whole
     // dialogues in this way. If "He is nice" becomes "She is nice" after "my brother", the response is wrong, so
     // responses can be edited, too.
     CASE WHEN NOT he_or_she OR NOT referent_mentioned THEN 'dialogue' END AS target,
     CASE p.concept
       WHEN 'it' THEN
         // "It is an idea" does not become "They are an idea", because "idea" is singular.
         role <> 'domain'
         // Skip "it" if it refers to nothing: "It rains" must not become "They rain".
         AND n.expletive IS NULL
       WHEN 'they' THEN
         // "Their room" does not become "its room", because the result may be correct as well.
         role <> 'poss'
         // "They" does not become "it" for a team or a town: both can be correct.
         AND NOT coalesce(antecedent.kind, '') IN ['group', 'place']
       ELSE
         // "We" always becomes another pronoun. The following conditions are for "he" and "she".
         NOT he_or_she
         // "He" becomes "she" if readers can notice the change.
         OR other_gender_mentioned
         OR referent_mentioned
         // If no entity can replace "he", it becomes "she" in any case.
         OR size(entities) = 0
     END AS pronoun_changes
UNWIND
  // All nodes of one pronoun in a graph form one site, so they change together: both pronouns in "He said that he would
  // come".
  CASE WHEN pronoun_changes
    THEN [{amr: n.amr, position: n.position, op: 'set', concept: new_pronoun, target: target,
           site: n.amr + '>' + p.concept + '>' + new_pronoun}]
    ELSE [] END
  // If an entity replaces the pronoun, each node of the pronoun is a separate site. These sites are used only for
  // negatives that are whole dialogues.
  + CASE WHEN new_entity IS NULL
      THEN []
      ELSE [{amr: n.amr, position: n.position, op: 'graft', from_amr: new_entity.amr,
             from_position: new_entity.position, target: 'dialogue',
             site: at + '<' + new_entity.amr + '.' + toString(new_entity.position)}] END AS edit
RETURN dialogue, collect(edit) AS edits
