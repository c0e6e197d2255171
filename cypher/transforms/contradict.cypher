// contradict: Adds a contradicted copy of an utterance to a later turn of the same speaker, as :sntN.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), contradiction
//
// The copy is negated at a main predicate (as negate does), or that predicate becomes its antonym
// where ConceptNet edges are loaded. Questions are never copied; of a multi-sentence only the :sntN
// with the predicate is; what is reported as somebody's words never is, since it
// would be no word of the speaker's own, nor is a short answer (I have), which says nothing alone. Later turns are
// the speaker's next one and, for what points at nothing that was said before it, one more.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH i, t, collect(n {.k, .last, .up, .role, .concept, .value, .frame, .kind, node: n}) AS ns
WITH i, t, ns,
     ['multi-sentence', 'and', 'or', 'contrast-01', 'cause-01', 'have-concession-91', 'have-condition-91', 'say-01',
       'tell-01', 'report-01', 'announce-01', 'exclaim-01', 'mention-01'] AS open,
     ['contrast-01', 'reply-01', 'answer-01', 'respond-01'] AS second
WITH i, t, ns, open, second, [n IN ns WHERE n.k = 0] AS tops,
     [n IN ns WHERE n.value IN ['-', 'interrogative'] OR n.concept = 'amr-unknown'] AS marks
WITH i, t, ns, open, second, tops, marks, CASE WHEN tops[0].concept IN open + second
       THEN [n IN ns WHERE n.up = 0 AND (tops[0].concept IN open AND (n.role = 'ARG1' OR n.role STARTS WITH 'snt'
         OR n.role STARTS WITH 'op') OR tops[0].concept IN second AND n.role = 'ARG2')] ELSE [] END AS near
WITH i, t, ns, open, second, tops, marks, near, [m IN near WHERE m.concept IN open + second] AS further
WITH i, t, ns, marks, tops[0].concept = 'multi-sentence' AS multi, CASE WHEN tops[0].concept = 'multi-sentence' THEN near ELSE tops END AS sentences,
     tops + near + CASE WHEN size(further) = 0 THEN [] ELSE
       [n IN ns WHERE any(m IN further WHERE n.up = m.k AND (m.concept IN open AND (n.role = 'ARG1'
         OR n.role STARTS WITH 'snt' OR n.role STARTS WITH 'op') OR m.concept IN second AND n.role = 'ARG2'))] END AS near
WITH i, collect({turn: t.turn, speaker: t.speaker, amr: t.amr, ns: ns, sentences: sentences, multi: multi,
       asked: [n IN marks WHERE coalesce(n.value, '') <> '-'],
       points: [n IN ns WHERE n.concept IN ['it', 'that', 'this', 'they', 'he', 'she', 'there', 'so', 'then', 'too', 'also', 'one', 'other'] | n.k],
       solid: [n IN ns WHERE n.concept IN ['i', 'you', 'we', 'name'] OR n.kind <> 'other' | n.k],
       nots: [n IN marks WHERE n.value = '-' AND n.role = 'polarity'],
       mains: [n IN near WHERE n.concept IS NOT NULL AND NOT n.concept IN ['multi-sentence', 'and', 'or', 'contrast-01',
         'cause-01', 'have-concession-91', 'have-condition-91', 'thank-01', 'guess-01', 'hope-01', 'bet-01', 'wish-01', 'suppose-01', 'excuse-01', 'greet-01', 'welcome-01', 'say-01', 'exclaim-01', 'reply-01',
         'respond-01', 'remark-01', 'demand-01',
         'congratulate-01']]}) AS graphs
WITH i, graphs, [g IN graphs WHERE g.multi | g.amr] AS multis
UNWIND graphs AS g
WITH i, multis, g, [t IN $dialogues[i].turns WHERE t.turn > g.turn AND t.speaker = g.speaker | t.amr] AS later
WHERE size(later) > 0
UNWIND g.mains AS m
WITH i, multis, g, m, later, [n IN g.ns WHERE n.up = m.k] AS below, [s IN g.sentences WHERE m.k >= s.k AND m.k <= s.last][0] AS s
WHERE s.last > s.k AND NOT any(n IN g.asked WHERE n.k > s.k AND n.k <= s.last)
  AND NOT any(x IN g.mains WHERE x.k >= s.k AND x.k <= s.last AND x.last - x.k < 3 AND x.concept IN ['do-02', 'have-01', 'have-03', 'be-02'])
  AND any(k IN g.solid WHERE k > s.k AND k <= s.last)
  AND NOT s.concept IN ['say-01', 'tell-01', 'reply-01', 'answer-01', 'respond-01', 'exclaim-01', 'have-concession-91']
WITH i, multis, g.amr AS source, m, s.k AS top, below, later, [n IN g.nots WHERE n.up = m.k | n.k] AS own,
     [n IN g.nots WHERE any(b IN below WHERE n.up = b.k) | n.k] AS inner,
     CASE WHEN size(later) > 1 AND NOT any(k IN g.points WHERE k >= s.k AND k <= s.last) THEN later[1 + (g.turn + m.k) % (size(later) - 1)] END AS second
WITH i, multis, source, m, top, below, later, second, inner, CASE WHEN size(own) > 0 THEN own[0] WHEN size(inner) = 1 AND
       m.concept IN ['possible-01', 'obligate-01', 'recommend-01', 'likely-01', 'permit-01'] THEN inner[0] END AS gone
WHERE gone IS NOT NULL
   OR size(inner) = 0 AND (m.frame AND (size(below) > 0 OR m.k > 0 AND NOT m.role STARTS WITH 'snt') OR any(c IN below WHERE c.role = 'domain'))
     AND NOT any(c IN below WHERE c.role = 'polarity' OR coalesce(c.concept, c.value) IN ['expressive', 'nothing',
       'nobody', 'no-one', 'none', 'nowhere', 'never', 'neither', 'hardly', 'no'])
WITH i, multis, source, m, top, later[0] AS first, second, gone,
     CASE WHEN gone IS NULL AND NOT m.concept IN ['say-01', 'tell-01', 'go-01', 'go-02', 'put-01', 'take-01', 'give-01', 'set-01', 'have-03',
       'have-01', 'feel-01', 'feel-02', 'know-01', 'see-01', 'hear-01', 'think-01', 'get-01', 'make-01', 'make-02', 'do-02', 'look-01',
       'possible-01', 'question-01', 'mean-01'] THEN m.node END AS word
OPTIONAL MATCH (word)-[:LEXEME]->(w:Term {opposites: true})
WITH i, multis, source, m, top, first, second, gone, w,
     CASE WHEN w IS NULL THEN [] ELSE [(word)-[r:ROLE]->(:AmrNode) WHERE r.role STARTS WITH 'ARG' | r.role] END AS roles
OPTIONAL MATCH (w)-[o:OPPOSITE {relation: 'Antonym'}]-(x:Term)
WHERE o.said_of IS NULL
OPTIONAL MATCH (f:Frame {lemma: coalesce(x.text, '')})
WITH i, multis, source, m.k AS k, top, first, second, gone,
     min(CASE WHEN m.frame THEN CASE WHEN f.id <> m.concept AND all(r IN roles WHERE r IN f.roles) THEN f.id END
       WHEN NOT x.text CONTAINS ' ' THEN x.text END) AS opposite
UNWIND CASE WHEN opposite IS NULL THEN [[first, null], [second, null]]
         ELSE [[first, null], [second, null], [first, opposite]] END AS plan
WITH i, multis, source, k, top, gone, plan[0] AS amr, plan[1] AS opposite
WHERE amr IS NOT NULL
WITH i, source, k, top, gone, amr, opposite, amr IN multis AS joined,
     amr + '<' + source + '.' + toString(k) + coalesce('>' + opposite, '') AS site
UNWIND CASE WHEN joined THEN [] ELSE [{amr: amr, k: 0, op: 'wrap', role: 'snt1', concept: 'multi-sentence',
         site: site}] END + [
       {amr: amr, k: -1, op: 'graft', role: 'snt', from_amr: source, from_k: top, site: site},
       CASE WHEN opposite IS NOT NULL THEN {amr: amr, k: k, op: 'set', concept: opposite, copy_of: source, site: site}
         WHEN gone IS NULL THEN {amr: amr, k: k, op: 'add', role: 'polarity', value: '-', copy_of: source, site: site}
         ELSE {amr: amr, k: gone, op: 'drop', copy_of: source, site: site} END] AS edit
RETURN $dialogues[i].id AS dialogue, collect(edit) AS edits
