// oppose: Replaces a concept by its antonym; a verb becomes a frame that exists and has the roles in use.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), contradiction
// needs: opposites, frames
//
// One hop over OPPOSITE, relation Antonym, in either direction; each antonym is a site of its own.
// Function words, questions and what is negated already stay as they are.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH d.id AS dialogue, t.amr AS amr, collect(n) AS ns
WITH dialogue, ns,
     [n IN ns WHERE n.concept = 'amr-unknown' OR n.value = 'interrogative'] AS asked,
     [n IN ns WHERE n.role = 'polarity' | n.up] AS denied
WITH dialogue, denied, ns, [n IN ns WHERE (n.role STARTS WITH 'snt' OR n.k = 0 AND n.concept <> 'multi-sentence')
       AND any(a IN asked WHERE a.k > n.k AND a.k <= n.last)] AS questions
UNWIND ns AS n
WITH dialogue, denied, questions, n
WHERE n.concept IS NOT NULL AND NOT n.k IN denied AND NOT any(q IN questions WHERE n.k >= q.k AND n.k <= q.last)
  AND NOT n.concept IN ['i', 'you', 'he', 'she', 'it', 'we', 'they', 'one', 'this', 'that', 'person', 'thing', 'name',
    'and', 'or', 'multi-sentence', 'amr-unknown', 'all', 'any', 'some', 'no', 'yes', 'so', 'too', 'very', 'only', 'also',
    'just', 'again', 'ever', 'even', 'other', 'such', 'cause-01', 'contrast-01', 'say-01', 'do-02', 'thank-01']
MATCH (n)-[:LEXEME]->(w:Term {opposites: true})
OPTIONAL MATCH (n)-[r:ROLE]->(:AmrNode)
WITH w, dialogue, n, collect(r.role) AS roles
WITH w, collect({dialogue: dialogue, amr: n.amr, k: n.k, verb: n.frame, concept: n.concept,
       roles: [r IN roles WHERE r STARTS WITH 'ARG']}) AS places
MATCH (w)-[:OPPOSITE {relation: 'Antonym'}]-(x:Term)
WITH DISTINCT w, places, x
OPTIONAL MATCH (x)<-[:LEXEME]-(f:Frame)
WITH w, places, x, f, f.id AS id
ORDER BY id
WITH w, places, x, collect({id: id, roles: f.roles}) AS frames
UNWIND places AS p
WITH p, CASE WHEN p.verb THEN [f IN frames WHERE all(r IN p.roles WHERE r IN f.roles) | f.id][0]
       WHEN NOT x.text CONTAINS ' ' THEN x.text END AS concept
WHERE concept IS NOT NULL AND concept <> p.concept
RETURN p.dialogue AS dialogue, collect({amr: p.amr, k: p.k, op: 'set', concept: concept,
         site: p.amr + '.' + toString(p.k) + '>' + concept}) AS edits
