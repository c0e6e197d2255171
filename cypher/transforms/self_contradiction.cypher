// self_contradiction: Makes a speaker deny an earlier statement of their own, in place of a later turn or after it as :sntN.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022, section 3), contradiction
//
// Before: B: That's a good idea. She loves letters.  A: Send her a photo of your children, too.  B: I will do it tonight.
// After:  B: That's a good idea. She loves letters.  A: Send her a photo of your children, too.
//   B: I will do it tonight. She doesn't love letters.
// Graph:  (d / do-02 ...)
//   => (m / multi-sentence :snt1 (d / do-02 ...) :snt2 (l / love-01 :polarity - :ARG0 (s / she) :ARG1 (l2 / letter)))
//
// One sentence is copied, and the copy is negated at its main predicate, as polarity_flip does. If ConceptNet edges are loaded,
// another site replaces the predicate of the copy by its antonym instead. Sites with an antonym are for negatives of
// whole dialogues.
//
// Departures from DEAM:
// - Only self-contained statements are copied. Questions, orders, reported speech, politeness formulas, hedged claims
//   and short answers ("I have") are skipped, because denying them contradicts nothing.
// - The copy is put into the speaker's next turn. If the statement refers to nothing before it, one more turn is chosen.
//   Therefore the number of sites grows with the length of the dialogue, not with its square.
// - DEAM appends the copy to the turn. Here the copy can also replace the turn if it is the response, because the other
//   sentences of a long response would still answer the context.
UNWIND $dialogues AS d UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// Match the top of each graph, to which a copy can be added, and the heads of self-contained sentences, which can be
// copied.
WHERE n.position = 0 OR n.repeatable IS NOT NULL
WITH d.id AS dialogue, collect({p: n, position: n.position, turn: t.turn, speaker: t.speaker}) AS ns
WITH dialogue, ns, [n IN ns WHERE n.position = 0] AS tops
UNWIND [n IN ns WHERE
  // Skip clauses such as "I have" and "That depends", which say nothing when they are repeated later.
  n.p.repeatable IS NOT NULL
  // Skip "Where is it?" and "Sit down!", which claim nothing that could be contradicted.
  AND n.p.clause_type = 'statement'
  // "She doesn't love it" has a negation that can be dropped, and "She loves it" can get one. Skip "Nobody came", which
  // allows neither.
  AND (n.p.negation_position IS NOT NULL OR n.p.negated IS NULL)] AS n
// Give each statement a fixed number. It is used below to choose a later turn, because a query has no seeded randomness.
WITH dialogue, n.p AS p, n.turn + n.position AS draw,
     // The tops of the later turns of the same speaker, in order.
     [t IN tops WHERE t.turn > n.turn AND t.speaker = n.speaker | t.p] AS later
WHERE size(later) > 0
OPTIONAL MATCH (p)-[:LEXEME]->(:Term)-[a:ANTONYM]->(x)
WHERE
  // Skip antonyms that are opposites for some kinds of things only ("old" and "young"). The transform oppose uses them.
  a.modified_kinds IS NULL
  // The frame of the antonym must have all numbered roles that the statement uses.
  AND all(role IN p.roles WHERE role IN x.roles)
  // The edge states an antonym of this very frame, or of the verb in a sense for which the edge knows no frame.
  AND (a.used_as = p.opposable_as OR a.used_as = 'frame' AND p.frame AND NOT p.opposable_as IN a.known)
WITH dialogue, p, draw, later, coalesce(min(coalesce(x.id, x.text)), '') AS opposite
UNWIND [later[0]]
  // "She loves it" must be repeated soon, while its antecedents are clear. "My sister loves letters" can be repeated at
  // any time, so it also gets a turn after the next one.
  + CASE WHEN size(later) > 1 AND p.repeatable = 'anywhere'
      THEN [later[1 + draw % (size(later) - 1)]] ELSE [] END AS top
// There are up to three sites: the negated copy after the turn, the negated copy in place of the turn, and the copy with
// an antonym after the turn. A pair describes each: the role of the copy, empty if it replaces the turn, and the antonym.
UNWIND [['snt', ''], ['', '']] + CASE opposite WHEN '' THEN [] ELSE [['snt', opposite]] END AS how
WITH dialogue, p, top, how[0] AS role, how[1] AS concept,
     top.amr + how[0] + '<' + p.amr + '.' + toString(p.position) + '>' + how[1] AS site,
     CASE
       // A copy that replaces the turn is used only for negatives of a response.
       WHEN how[0] = '' THEN 'response'
       // If a response asks, orders or is long, it still answers the context, whatever is added to it. In these cases
       // the site is for whole dialogues. So are copies with an antonym.
       WHEN how[1] <> '' OR top.asked_roles IS NOT NULL OR top.has_imperative OR top.subtree_last > 15
         THEN 'dialogue'
     END AS target
UNWIND
  // To append a copy to a turn of one sentence, first make this sentence the :snt1 of a multi-sentence.
  CASE WHEN role = '' OR top.concept = 'multi-sentence' THEN []
    ELSE [{position: 0, op: 'wrap', role: 'snt1', concept: 'multi-sentence'}] END
  + [CASE role
       WHEN '' THEN {position: 0, op: 'graft', from_amr: p.amr, from_position: p.sentence_top}
       // position: -1 stands for the top after the previous edit, which may be the new multi-sentence.
       ELSE {position: -1, op: 'graft', role: role, from_amr: p.amr, from_position: p.sentence_top} END,
     CASE
       WHEN concept <> '' THEN {position: p.position, op: 'set', concept: concept, copy_of: p.amr}
       WHEN p.negation_position IS NOT NULL THEN {position: p.negation_position, op: 'drop', copy_of: p.amr}
       ELSE {position: p.position, op: 'add', role: 'polarity', value: '-', copy_of: p.amr} END] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr, site: site, target: target,
  // The score makes the engine prefer statements that can be repeated anywhere.
  score: CASE p.repeatable WHEN 'anywhere' THEN 1 ELSE 0 END}) AS edits
