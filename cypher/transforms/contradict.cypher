// contradict: Makes a speaker deny an earlier statement of their own, in place of a later turn or after it as :sntN.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022, section 3), contradiction
//
// Before: B: That's a good idea. She loves letters.  A: Send her a photo of your children, too.  B: I will do it tonight.
// After:  B: That's a good idea. She loves letters.  A: Send her a photo of your children, too.
//   B: I will do it tonight. She doesn't love letters.
// Graph:  (d / do-02 ...)
//   => (m / multi-sentence :snt1 (d / do-02 ...) :snt2 (l / love-01 :polarity - :ARG0 (s / she) :ARG1 (l2 / letter)))
//
// A copy of one sentence is negated at its main predicate, as negate does. Where ConceptNet edges are loaded, a second
// site replaces that predicate by its antonym instead; those sites are for negatives of whole dialogues.
//
// Departures from DEAM:
// - Only self-contained statements are copied. Questions, orders, reported speech, politeness formulas, hedged claims
//   and short answers ("I have") are skipped: their denial contradicts nothing.
// - The copy goes to the speaker's next turn, and for statements that refer to nothing before them to one more turn.
//   The number of sites then grows with the length of the dialogue, not with its square.
// - Beside DEAM's copy after the turn, a response can be replaced by the copy: the rest of a long turn would still
//   answer the context.
UNWIND $dialogues AS d UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// The tops of all graphs, where copies go, and the statements, which are copied.
WHERE n.k = 0 OR n.stands IS NOT NULL
WITH d.id AS dialogue, collect({p: n, k: n.k, turn: t.turn, speaker: t.speaker}) AS ns
WITH dialogue, ns, [n IN ns WHERE n.k = 0] AS tops
UNWIND [n IN ns WHERE
  // "I have" and "That depends" say nothing when they are repeated.
  n.p.stands IS NOT NULL
  // "Where is it?" and "Sit down!" claim nothing that could be contradicted.
  AND n.p.clause = 'statement'
  // "She doesn't love it" has a negation to drop, "She loves it" gets one. "Nobody came" allows neither.
  AND (n.p.denied_by IS NOT NULL OR n.p.negated IS NULL)] AS n
// A fixed number per statement, used below to choose a later turn without randomness in the query.
WITH dialogue, n.p AS p, n.turn + n.k AS draw,
     // Later turns of the same speaker, in order.
     [t IN tops WHERE t.turn > n.turn AND t.speaker = n.speaker | t.p] AS later
WHERE size(later) > 0
OPTIONAL MATCH (p)-[:LEXEME]->(:Term)-[a:ANTONYM]->(x)
WHERE
  // Antonyms that hold for some kinds of things only ("old", "young") are left to oppose.
  a.said_of IS NULL
  // The antonym must have all numbered roles in use.
  AND all(role IN p.roles WHERE role IN x.roles)
  // The antonym was judged for this frame, or for any frame of the verb that is not known to the edge.
  AND (a.used_as = p.asserts OR a.used_as = 'frame' AND p.frame AND NOT p.asserts IN a.known)
WITH dialogue, p, draw, later, coalesce(min(coalesce(x.id, x.text)), '') AS opposite
UNWIND [later[0]]
  // "She loves it" must be said soon after its antecedent. "My sister loves letters" can be said at any time.
  + CASE WHEN size(later) > 1 AND p.stands = 'alone'
      THEN [later[1 + draw % (size(later) - 1)]] ELSE [] END AS top
// Three sites: the negated copy after the turn, the negated copy instead of it, the copy with an antonym after it.
UNWIND [['snt', ''], ['', '']] + CASE opposite WHEN '' THEN [] ELSE [['snt', opposite]] END AS how
WITH dialogue, p, top, how[0] AS role, how[1] AS concept,
     top.amr + how[0] + '<' + p.amr + '.' + toString(p.k) + '>' + how[1] AS site,
     CASE
       // The copy is all that is said: only for negatives of a response.
       WHEN how[0] = '' THEN 'response'
       // A response that asks, orders or is long still answers the context, whatever is added to it. Copies with an
       // antonym are for whole dialogues, too.
       WHEN how[1] <> '' OR top.asks IS NOT NULL OR top.orders OR top.last > 15
         THEN 'dialogue'
     END AS target
UNWIND
  // A turn of one sentence becomes the :snt1 of a multi-sentence first.
  CASE WHEN role = '' OR top.concept = 'multi-sentence' THEN []
    ELSE [{k: 0, op: 'wrap', role: 'snt1', concept: 'multi-sentence'}] END
  + [CASE role
       WHEN '' THEN {k: 0, op: 'graft', from_amr: p.amr, from_k: p.sentence}
       // k: -1 is the top after the edit before, which may be the new multi-sentence.
       ELSE {k: -1, op: 'graft', role: role, from_amr: p.amr, from_k: p.sentence} END,
     CASE
       WHEN concept <> '' THEN {k: p.k, op: 'set', concept: concept, copy_of: p.amr}
       WHEN p.denied_by IS NOT NULL THEN {k: p.denied_by, op: 'drop', copy_of: p.amr}
       ELSE {k: p.k, op: 'add', role: 'polarity', value: '-', copy_of: p.amr} END] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr, site: site, target: target,
  // The engine prefers statements that do not depend on the turn they were said in.
  score: CASE p.stands WHEN 'alone' THEN 1 ELSE 0 END}) AS edits
