// contradict: Adds a contradicted copy of an utterance to a later turn of the same speaker, as :sntN.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), contradiction
//
// The copy is negated at a main predicate (as negate does), or that predicate becomes its antonym
// where ConceptNet edges are loaded. Questions are never copied; of a multi-sentence only the :sntN
// with the predicate is. Later turns are the speaker's next one, and one more.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH i, t.turn AS turn, t.speaker AS speaker, t.amr AS amr, collect(n) AS ns
WITH i, turn, speaker, amr, ns,
     [n IN ns WHERE n.concept IN ['multi-sentence', 'and', 'or', 'contrast-01', 'cause-01', 'have-concession-91',
       'have-condition-91', 'say-01', 'tell-01', 'report-01', 'announce-01', 'exclaim-01', 'mention-01'] | n.k] AS open,
     [n IN ns WHERE n.concept IN ['contrast-01', 'reply-01', 'answer-01', 'respond-01'] | n.k] AS second
WITH i, turn, speaker, amr, ns, [n IN ns WHERE n.k = 0 OR n.up IN open AND (n.role = 'ARG1'
       OR n.role STARTS WITH 'snt' OR n.role STARTS WITH 'op') OR n.up IN second AND n.role = 'ARG2'] AS clauses
WITH i, turn, speaker, amr, ns, clauses, [n IN clauses WHERE n.k = 0 OR n.up = 0 | n.k] AS near
WITH i, turn, speaker, amr, ns, clauses, near + [n IN clauses WHERE n.up IN near AND n.up > 0 | n.k] AS near
WITH i, turn, speaker, amr, ns,
     [n IN clauses WHERE n.k = 0 AND n.concept = 'multi-sentence'] AS multi,
     [n IN clauses WHERE n.k = 0 AND n.concept <> 'multi-sentence' OR n.role STARTS WITH 'snt'] AS sentences,
     [n IN ns WHERE n.concept = 'amr-unknown' OR n.value = 'interrogative'] AS asked,
     [n IN ns WHERE n.role = 'polarity' AND n.value = '-'] AS nots,
     [n IN clauses WHERE n.k IN near AND n.concept IS NOT NULL AND NOT n.concept IN ['multi-sentence', 'and', 'or',
       'contrast-01', 'cause-01', 'have-concession-91', 'have-condition-91', 'thank-01', 'excuse-01', 'greet-01',
       'welcome-01', 'congratulate-01']] AS mains
WITH i, collect(CASE WHEN size(multi) > 0 THEN amr END) AS multis,
     collect({turn: turn, speaker: speaker, amr: amr, ns: ns, sentences: sentences, asked: asked, nots: nots,
       mains: mains}) AS graphs
UNWIND graphs AS g
UNWIND g.mains AS m
WITH i, multis, g, m, [n IN g.ns WHERE n.up = m.k] AS below,
     [s IN g.sentences WHERE m.k >= s.k AND m.k <= s.last][0] AS s,
     [t IN $dialogues[i].turns WHERE t.turn > g.turn AND t.speaker = g.speaker | t.amr] AS later
WHERE size(later) > 0 AND NOT any(n IN g.asked WHERE n.k > s.k AND n.k <= s.last)
WITH i, multis, g, m, s.k AS top, below, [n IN below | n.k] AS under,
     CASE WHEN size(later) = 1 THEN later
       ELSE [later[0], later[1 + (g.turn + m.k) % (size(later) - 1)]] END AS later
WITH i, multis, g.amr AS source, m, top, below, later, [n IN g.nots WHERE n.up = m.k | n.k] AS own,
     [n IN g.nots WHERE n.up IN under | n.k] AS inner
WITH i, multis, source, m, top, below, later, inner, CASE WHEN size(own) > 0 THEN own[0] WHEN size(inner) = 1 AND
       m.concept IN ['possible-01', 'obligate-01', 'recommend-01', 'likely-01', 'permit-01'] THEN inner[0] END AS gone
WHERE gone IS NOT NULL
   OR size(inner) = 0 AND (m.frame AND (m.k > 0 OR size(below) > 0) OR any(c IN below WHERE c.role = 'domain'))
     AND NOT any(c IN below WHERE c.role = 'polarity' OR coalesce(c.concept, c.value) IN ['expressive', 'nothing',
       'nobody', 'no-one', 'none', 'nowhere', 'never', 'neither', 'hardly', 'no'])
OPTIONAL MATCH (m)-[:LEXEME]->(w:Term {opposites: true})
OPTIONAL MATCH (m)-[r:ROLE]->(:AmrNode)
WITH i, multis, source, m, top, later, gone, w, collect(r.role) AS roles
OPTIONAL MATCH (w)-[:OPPOSITE {relation: 'Antonym'}]-(x:Term)
OPTIONAL MATCH (x)<-[:LEXEME]-(f:Frame)
WITH i, multis, source, m, top, later, gone, [r IN roles WHERE r STARTS WITH 'ARG'] AS roles, f,
     x.text AS text, f.id AS id
ORDER BY text, id
WITH i, multis, source, m, top, later, gone, CASE WHEN gone IS NOT NULL OR m.concept IN ['say-01', 'tell-01'] THEN []
       WHEN m.frame THEN [c IN collect(CASE WHEN all(r IN roles WHERE r IN f.roles) THEN id END) WHERE c <> m.concept]
       ELSE [c IN collect(text) WHERE NOT c CONTAINS ' '] END AS opposites
UNWIND [amr IN later | {amr: amr}] + [x IN opposites[0..1] | {amr: later[0], opposite: x}] AS plan
WITH i, multis, source, m, top, gone, plan.amr AS amr, plan.opposite AS opposite
WITH i, source, top, amr, amr IN multis AS joined,
     amr + '<' + source + '.' + toString(m.k) + coalesce('>' + opposite, '') AS site,
     CASE WHEN opposite IS NOT NULL THEN {op: 'set', k: m.k, concept: opposite}
       WHEN gone IS NULL THEN {op: 'add', k: m.k, role: 'polarity', value: '-'}
       ELSE {op: 'drop', k: gone} END AS change
WITH i, CASE WHEN joined THEN [] ELSE [{amr: amr, k: 0, op: 'wrap', role: 'snt1', concept: 'multi-sentence',
         site: site}] END + [
       {amr: amr, k: -1, op: 'graft', role: 'snt', from_amr: source, from_k: top, site: site},
       {amr: amr, k: change.k, op: change.op, role: change.role, value: change.value, concept: change.concept,
         copy_of: source, site: site}] AS edits
UNWIND edits AS edit
RETURN $dialogues[i].id AS dialogue, collect(edit) AS edits
