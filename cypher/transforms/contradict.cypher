// contradict: Has a speaker deny what they have said: in place of a later turn, or after it as :sntN.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), contradiction
//
// A copy of one sentence of an utterance is negated at its main predicate (as negate does), or that
// becomes its antonym where ConceptNet edges are loaded. Only statements are copied: a question or
// an order contradicts nothing, what is reported as somebody's words is no word of the speaker's
// own, courtesies and guesses nobody denies, and a short answer (I have) says nothing alone. Later
// turns are the speaker's next one and, for what points at nothing that was said before it, one
// more. A response is short and asks nothing where the copy comes after it, as in DEAM; else, and
// as often there, the copy is all that is said: the rest of a long turn would be an answer.
// Antonyms are for negatives of whole dialogues.
UNWIND $dialogues AS d UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.k = 0 OR n.stands IS NOT NULL
WITH d.id AS dialogue, collect({p: n, k: n.k, turn: t.turn, speaker: t.speaker}) AS ns
WITH dialogue, ns, [n IN ns WHERE n.k = 0] AS tops
UNWIND [n IN ns WHERE n.p.stands IS NOT NULL AND n.p.clause = 'statement'
  AND (n.p.denied_by IS NOT NULL OR n.p.negated IS NULL)] AS n
WITH dialogue, n.p AS p, n.turn + n.k AS draw,
     [t IN tops WHERE t.turn > n.turn AND t.speaker = n.speaker | t.p] AS later
WHERE size(later) > 0
OPTIONAL MATCH (p)-[:LEXEME]->(:Term)-[a:ANTONYM]->(x)
WHERE a.said_of IS NULL AND all(role IN p.roles WHERE role IN x.roles) AND (a.used_as = p.asserts
  OR a.used_as = 'frame' AND p.frame AND NOT p.asserts IN a.known)
WITH dialogue, p, draw, later, coalesce(min(coalesce(x.id, x.text)), '') AS opposite
UNWIND [later[0]] + CASE WHEN size(later) > 1 AND p.stands = 'alone'
    THEN [later[1 + draw % (size(later) - 1)]] ELSE [] END AS top
UNWIND [['snt', ''], ['', '']] + CASE opposite WHEN '' THEN [] ELSE [['snt', opposite]] END AS how
WITH dialogue, p, top, how[0] AS role, how[1] AS concept, top.amr + how[0] + '<' + p.amr + '.'
       + toString(p.k) + '>' + how[1] AS site, CASE WHEN how[0] = '' THEN 'response'
       WHEN how[1] <> '' OR top.asks IS NOT NULL OR top.orders OR top.last > 15
         THEN 'dialogue' END AS target
UNWIND CASE WHEN role = '' OR top.concept = 'multi-sentence' THEN []
    ELSE [{k: 0, op: 'wrap', role: 'snt1', concept: 'multi-sentence'}] END
  + [CASE role WHEN '' THEN {k: 0, op: 'graft', from_amr: p.amr, from_k: p.sentence}
       ELSE {k: -1, op: 'graft', role: role, from_amr: p.amr, from_k: p.sentence} END,
     CASE WHEN concept <> '' THEN {k: p.k, op: 'set', concept: concept, copy_of: p.amr}
       WHEN p.denied_by IS NOT NULL THEN {k: p.denied_by, op: 'drop', copy_of: p.amr}
       ELSE {k: p.k, op: 'add', role: 'polarity', value: '-', copy_of: p.amr} END] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr, site: site, target: target,
  score: CASE p.stands WHEN 'alone' THEN 1 ELSE 0 END}) AS edits
