// negate: Flips the polarity of a main predicate: adds :polarity -, or drops it where it stands.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), contradiction
//
// Main predicates are the top, and what it leads to through :sntN, :opN of and/or, the sides of a
// contrast, the effect of a cause, the words of a report and what a question tag asks about. Modals are negated themselves.
// Questions, bare nominals, exclamations of one word and clauses that are negative in other words stay as they are.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH d.id AS dialogue, t.amr AS amr, collect(n {.k, .last, .up, .role, .concept, .value, .frame}) AS ns
WITH dialogue, amr, ns,
     ['multi-sentence', 'and', 'or', 'contrast-01', 'cause-01', 'have-concession-91', 'have-condition-91', 'say-01',
       'tell-01', 'report-01', 'announce-01', 'exclaim-01', 'mention-01', 'request-confirmation-91'] AS open,
     ['contrast-01', 'reply-01', 'answer-01', 'respond-01'] AS second
WITH dialogue, amr, ns, open, second, [n IN ns WHERE n.k = 0] AS tops
WITH dialogue, amr, ns, open, second, tops, CASE WHEN tops[0].concept IN open + second
       THEN [n IN ns WHERE n.up = 0 AND (tops[0].concept IN open AND (n.role = 'ARG1' OR n.role STARTS WITH 'snt'
         OR n.role STARTS WITH 'op') OR tops[0].concept IN second AND n.role = 'ARG2')] ELSE [] END AS near
WITH dialogue, amr, ns, open, second, tops, near, [m IN near WHERE m.concept IN open + second] AS further
WITH dialogue, amr, ns, open, second, tops + near AS near, CASE WHEN size(further) = 0 THEN [] ELSE
       [n IN ns WHERE any(m IN further WHERE n.up = m.k AND (m.concept IN open AND (n.role = 'ARG1'
         OR n.role STARTS WITH 'snt' OR n.role STARTS WITH 'op') OR m.concept IN second AND n.role = 'ARG2'))] END AS more
WITH dialogue, amr, ns, open, second, near + more AS near, [m IN more WHERE m.concept IN open + second] AS further
WITH dialogue, amr, ns, near + CASE WHEN size(further) = 0 THEN [] ELSE
       [n IN ns WHERE any(m IN further WHERE n.up = m.k AND (m.concept IN open AND (n.role = 'ARG1'
         OR n.role STARTS WITH 'snt' OR n.role STARTS WITH 'op') OR m.concept IN second AND n.role = 'ARG2'))] END AS near,
     [n IN ns WHERE n.value IN ['-', 'interrogative'] OR n.concept = 'amr-unknown'] AS marks
WITH dialogue, amr, ns, [n IN marks WHERE coalesce(n.value, '') <> '-'] AS asked,
     [n IN marks WHERE n.value = '-' AND n.role = 'polarity'] AS nots,
     [n IN near WHERE n.concept IS NOT NULL AND NOT n.concept IN ['multi-sentence', 'and', 'or', 'contrast-01', 'cause-01',
       'have-concession-91', 'have-condition-91', 'thank-01', 'guess-01', 'hope-01', 'bet-01', 'wish-01', 'suppose-01', 'excuse-01', 'greet-01', 'welcome-01', 'say-01', 'exclaim-01', 'reply-01', 'respond-01',
       'remark-01', 'demand-01', 'request-confirmation-91',
       'congratulate-01']] AS mains
UNWIND mains AS m
WITH dialogue, amr, asked, nots, m, [n IN ns WHERE n.up = m.k] AS below
WHERE NOT any(n IN asked WHERE n.k > m.k AND n.k <= m.last OR n.up = m.up)
WITH dialogue, amr, nots, m, below, [n IN below | n.k] AS under
WITH dialogue, amr, m, below, [n IN nots WHERE n.up = m.k | n.k] AS own, [n IN nots WHERE n.up IN under | n.k] AS inner
WITH dialogue, amr, m, below, inner, CASE WHEN size(own) > 0 THEN own[0] WHEN size(inner) = 1 AND m.concept IN
       ['possible-01', 'obligate-01', 'recommend-01', 'likely-01', 'permit-01'] THEN inner[0] END AS gone
WHERE gone IS NOT NULL
   OR size(inner) = 0 AND (m.frame AND (size(below) > 0 OR m.k > 0 AND NOT m.role STARTS WITH 'snt') OR any(c IN below WHERE c.role = 'domain'))
     AND NOT any(c IN below WHERE c.role = 'polarity' OR coalesce(c.concept, c.value) IN ['expressive', 'nothing', 'nobody',
       'no-one', 'none', 'nowhere', 'never', 'neither', 'hardly', 'no'])
RETURN dialogue, collect(CASE WHEN gone IS NULL
    THEN {amr: amr, k: m.k, op: 'add', role: 'polarity', value: '-'}
    ELSE {amr: amr, k: gone, op: 'drop'} END) AS edits
