// contradict: Adds a contradicted copy of an utterance to a later turn of its speaker, as :sntN.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), contradiction
//
// The copy is negated at a main predicate (as negate does), or that predicate becomes its antonym
// where ConceptNet edges are loaded. Questions are never copied; of a multi-sentence only the
// :sntN with the predicate is; what is reported as somebody's words never is, since it would be no
// word of the speaker's own, nor is a short answer (I have), which says nothing alone. Later turns
// are the speaker's next one and, for what points at nothing that was said before it, one more.
UNWIND $dialogues AS d UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.k = 0 OR n.stands IS NOT NULL
WITH d, collect({p: n, turn: t.turn, speaker: t.speaker}) AS ns
WITH d, ns, [n IN ns WHERE n.p.concept = 'multi-sentence' | n.p.amr] AS multis
UNWIND [n IN ns WHERE n.p.stands IS NOT NULL AND (n.p.denied_by IS NOT NULL
  OR n.p.clause IN ['statement', 'order', 'answer'] AND n.p.negated IS NULL)] AS n
WITH d.id AS dialogue, multis, n.p AS p, n.turn + n.p.k AS draw,
     [t IN d.turns WHERE t.turn > n.turn AND t.speaker = n.speaker | t.amr] AS later
WHERE size(later) > 0
OPTIONAL MATCH (p)-[:LEXEME]->(:Term)-[a:ANTONYM]->(x)
WHERE a.said_of IS NULL AND all(role IN p.roles WHERE role IN x.roles) AND (a.used_as = p.asserts
  OR a.used_as = 'frame' AND p.frame AND NOT p.asserts IN a.known)
WITH dialogue, multis, p, draw, later, min(coalesce(x.id, x.text)) AS opposite
UNWIND [{amr: later[0]}]
  + CASE WHEN opposite IS NULL THEN [] ELSE [{amr: later[0], concept: opposite}] END
  + CASE WHEN size(later) > 1 AND p.stands = 'alone'
      THEN [{amr: later[1 + draw % (size(later) - 1)]}] ELSE [] END AS copy
WITH dialogue, multis, p, copy.amr AS amr, copy.concept AS concept,
     copy.amr + '<' + p.amr + '.' + toString(p.k) + coalesce('>' + copy.concept, '') AS site
UNWIND CASE WHEN amr IN multis THEN []
    ELSE [{amr: amr, k: 0, op: 'wrap', role: 'snt1', concept: 'multi-sentence', site: site}] END
  + [{amr: amr, k: -1, op: 'graft', role: 'snt', from_amr: p.amr, from_k: p.sentence, site: site},
     CASE WHEN concept IS NOT NULL
         THEN {amr: amr, k: p.k, op: 'set', concept: concept, copy_of: p.amr, site: site}
       WHEN p.denied_by IS NOT NULL
         THEN {amr: amr, k: p.denied_by, op: 'drop', copy_of: p.amr, site: site}
       ELSE {amr: amr, k: p.k, op: 'add', role: 'polarity', value: '-', copy_of: p.amr,
             site: site} END] AS edit
RETURN dialogue, collect(edit) AS edits
