// oppose: Replaces a concept by its antonym; a verb becomes a frame that exists and has the roles in use.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), contradiction
// needs: opposites, frames
//
// One hop over OPPOSITE, relation Antonym, in either direction; each antonym that has half the weight of
// the word's heaviest is a site of its own. The new frame has a doer, and something done, if the old one has.
// Questions, names, degrees and what is negated already stay as they are. What a word has as its opposite in one sense only
// (old is young of people, new of things) has said_of, the kinds of what it must be said of; a pair of words that are no opposites has none.
// Antonyms of another word class are no opposites of the text: a preposition or an adverb of place needs
// another one, a noun needs a noun of its kind (a flower is no dance), and one that is no verb one that is none, a verb
// takes no word that is mostly a noun, a modifier no noun in -ness,
// and plural and -ing terms stand only for such. Light verbs, verbs of perception, days and people have
// antonyms in ConceptNet that are only other ones of their kind (see and hear); they stay.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH d.id AS dialogue, t.amr AS amr, collect(n {.k, .last, .up, .role, .concept, .value, .frame, node: n}) AS ns
WITH dialogue, ns, [n IN ns WHERE CASE WHEN n.concept IS NULL THEN n.value = 'interrogative'
       ELSE n.concept = 'amr-unknown' END] AS asked,
     [n IN ns WHERE n.role = 'polarity' OR n.role = 'name' | n.up] AS denied
WITH dialogue, ns, denied, CASE WHEN size(asked) = 0 THEN [] ELSE [n IN ns WHERE (n.role STARTS WITH 'snt'
       OR n.k = 0 AND n.concept <> 'multi-sentence') AND any(a IN asked WHERE a.k > n.k AND a.k <= n.last)] END AS questions
UNWIND [n IN ns WHERE n.concept IS NOT NULL AND NOT n.k IN denied
  AND NOT n.concept IN ['i', 'you', 'he', 'she', 'it', 'we', 'they', 'one', 'this', 'that', 'person', 'thing', 'name',
    'and', 'or', 'multi-sentence', 'amr-unknown', 'all', 'any', 'some', 'no', 'yes', 'so', 'too', 'very', 'only', 'also',
    'just', 'again', 'ever', 'even', 'other', 'such', 'next', 'last', 'course', 'something', 'cause-01', 'contrast-01', 'say-01', 'do-02',
    'thank-01', 'have-01', 'have-03', 'know-01', 'know-02', 'see-01', 'hear-01', 'look-01', 'look-02', 'listen-01', 'read-01',
    'speak-01', 'think-01', 'get-01', 'make-01', 'make-02', 'today', 'tomorrow', 'yesterday', 'day', 'night', 'morning', 'evening',
    'noon', 'first', 'man', 'woman', 'boy', 'girl', 'sir', 'picture', 'drawing', 'possible-01', 'luck', 'real', 'real-04', 'really', 'go-01', 'go-02', 'come-01', 'come-03', 'jump-01', 'stand-01', 'put-01', 'take-01', 'give-01',
    'set-01', 'will-02', 'question-01', 'most', 'away', 'back', 'up', 'down', 'out', 'off', 'on', 'over',
    'across', 'around', 'along', 'through', 'before', 'after', 'behind', 'against', 'within', 'inside', 'name-01', 'call-01']
  AND NOT (coalesce(n.role, '') = 'degree' OR n.concept IN ['little', 'bit', 'more'] AND n.role IN ['extent', 'ARG3', 'quant'] OR n.frame AND n.role ENDS WITH '-of'
    AND any(m IN ns WHERE m.k = n.up AND m.concept IN ['person', 'thing']))
  AND NOT n.concept STARTS WITH 'have-' AND NOT n.concept STARTS WITH 'feel-' AND NOT n.concept IN ['ago', 'general']
  AND NOT (n.concept STARTS WITH 'good-' AND any(m IN ns WHERE m.concept IN ['night', 'morning', 'afternoon', 'evening', 'luck']))
  AND NOT any(q IN questions WHERE n.k >= q.k AND n.k <= q.last)] AS m
WITH dialogue, m.node AS n
MATCH (n)-[:LEXEME]->(w:Term {opposites: true})
WITH dialogue, n, w, [(n)<-[r:ROLE]-(c:AmrNode) WHERE r.role = 'mod' | c] + [(n)-[r:ROLE]->(c:AmrNode)
       WHERE r.role IN ['ARG1', 'domain'] | c] AS things
WITH dialogue, n, w, [c IN things | CASE WHEN c.concept IN ['i', 'you', 'he', 'she', 'we'] THEN 'person' ELSE coalesce(c.kind, 'other') END] AS things
WITH w, collect({dialogue: dialogue, things: things, amr: n.amr, k: n.k, verb: n.frame, concept: n.concept,
       modifies: CASE WHEN n.role IS NULL THEN true WHEN n.role ENDS WITH '-of' THEN true
         ELSE n.role IN ['mod', 'manner', 'degree', 'extent', 'frequency', 'time', 'location', 'direction', 'domain'] END,
       roles: CASE WHEN n.frame THEN [(n)-[r:ROLE]->(:AmrNode) WHERE r.role STARTS WITH 'ARG' | r.role] ELSE [] END}) AS places
OPTIONAL MATCH (v:Frame {lemma: w.text})
WITH w, head(collect(places)) AS places, collect({id: v.id, roles: v.roles}) AS own
MATCH (w)-[o:OPPOSITE {relation: 'Antonym'}]-(x:Term)
WITH w, x, head(collect(places)) AS places, head(collect(own)) AS own, max(coalesce(o.weight, 1.0)) AS weight, collect(o.said_of)[0] AS said_of
OPTIONAL MATCH (f:Frame {lemma: x.text})
WITH w, places, own, x, weight, said_of, f, f.id AS id
ORDER BY id
WITH w, x, head(collect(places)) AS places, head(collect(own)) AS own, max(weight) AS weight,
     head(collect(said_of)) AS said_of, collect({id: id, roles: f.roles}) AS frames
WITH w, head(collect(places)) AS places, head(collect(own)) AS own, max(weight) AS most, collect({text: x.text,
       kind: coalesce(x.kind, 'other'), weight: weight, said_of: said_of, frames: [f IN frames WHERE f.id IS NOT NULL]}) AS found
WITH w, places, [v IN own WHERE v.id IS NOT NULL] AS own, found, most,
     ['up', 'down', 'in', 'out', 'inside', 'outside', 'on', 'off', 'over', 'under', 'above', 'below', 'beneath',
       'before', 'after', 'behind', 'ahead', 'beyond', 'between', 'around', 'across', 'along', 'with', 'without', 'within',
       'for', 'against', 'to', 'from', 'into', 'out of', 'toward', 'away', 'back', 'near', 'here', 'there',
       'now', 'then', 'once', 'already', 'yet', 'still', 'always', 'never', 'often', 'seldom', 'rarely', 'more', 'less',
       'most', 'least', 'enough', 'many', 'few', 'much', 'both', 'either', 'neither', 'or', 'none', 'well', 'can', 'being',
       'everything', 'nothing', 'everybody', 'nobody', 'somebody', 'everyone', 'no one', 'someone', 'anyone'] AS closed
UNWIND found AS x
WITH w, places, own, x.text AS text, x.frames AS frames, x.said_of AS said_of, closed, x.kind = coalesce(w.kind, 'other') AS alike, x.kind = 'other' AS plain,
     coalesce(w.kind, 'other') IN ['state', 'thought', 'act'] AS soft
WHERE x.weight * 2 >= most AND (text IN closed) = (w.text IN closed) AND NOT 'much' IN [text, w.text]
  AND (w.text =~ '.+[^su]s' OR NOT text =~ '.+[^siu]s' AND NOT text IN ['men', 'women', 'feet', 'children'])
  AND (w.text ENDS WITH 'ing' OR NOT text ENDS WITH 'ing' OR text IN ['evening', 'morning', 'spring', 'king', 'nothing',
    'everything', 'beginning', 'ceiling'])
UNWIND places AS p
WITH w, own, text, frames, said_of, alike, plain, soft, p
WHERE said_of IS NULL OR size(p.things) > 0 AND all(thing IN p.things WHERE thing IN said_of)
WITH p, text, CASE WHEN alike OR plain AND soft THEN frames ELSE [] END AS frames, alike, size(own) > 0 AS verbal, coalesce([v IN own WHERE v.id = p.concept | v.roles][0], p.roles) AS like
WITH p, CASE WHEN p.verb THEN [f IN frames WHERE all(r IN p.roles WHERE r IN f.roles)
         AND ('ARG0' IN f.roles) = ('ARG0' IN like) AND ('ARG1' IN f.roles) = ('ARG1' IN like) | f.id][0]
       WHEN text CONTAINS ' ' OR NOT alike THEN null
       WHEN p.modifies AND NOT text =~ '.*(ness|ment|tion|hood|ship|ism)' THEN text
       WHEN NOT p.modifies AND (verbal OR size(frames) = 0) THEN text END AS concept
WHERE concept IS NOT NULL AND concept <> p.concept
RETURN p.dialogue AS dialogue, collect({amr: p.amr, k: p.k, op: 'set', concept: concept,
         site: p.amr + '.' + toString(p.k) + '>' + concept}) AS edits
