// perspective: Makes the keyword that the reply moves to another one: where another keyword of the post would lead.
// category: C-cont
// source: CAPT (Ou et al. 2022), substitutes of the reply perspective; Gupta et al. (2021), Key-sem
// needs: shifts, frames
//
// The reply has a FOCUS, the keyword of the post that it answers, and a PERSPECTIVE, its own keyword. All nodes
// that say the perspective become a word of its kind (a thing of any kind, where one has, buys or sees it) that SHIFTS_TO leads to from another keyword of the post; from
// the focus itself, where no other keyword leads anywhere. Of the dozen that a keyword most often leads to, the first
// four of that kind that the dialogue does not say are a site each; the perspective itself never is. A noun becomes
// one word that is no plural, participle or adverb. What a frame says stays: other verbs seldom take what follows it. Of a perspective of several
// words that no one node says, the last word is replaced and the others go.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})-[:LEXEME]->(w:Term)
WITH i, collect(DISTINCT w.text) AS said
UNWIND $dialogues[i].turns AS t
MATCH (:Amr {id: t.amr})<-[:MEANS]-(u:Utterance)-[:PERSPECTIVE]->(p:Term)
MATCH (u)-[:FOCUS]->(f:Term)
MATCH (u)<-[:NEXT]-(:Utterance)-[:MENTIONS]->(k:Term)
WITH k, collect({i: i, amr: t.amr, said: said, observed: p.text, kind: coalesce(p.kind, 'other'), own: k.text = f.text}) AS places
WITH places, [(k)-[s:SHIFTS_TO]->(x:Term) WHERE NOT x.text IN ['one', 'thing', 'something', 'anything', 'everything', 'nothing',
       'someone', 'anyone', 'everyone', 'nobody', 'lot', 'bit', 'kind', 'sort', 'way', 'that', 'this', 'so', 'let', 'be', 'today',
       'tomorrow', 'yesterday', 'sir', 'madam', 'dear', 'mr', 'mrs', 'miss', 'ms', 'please', 'contrast', 'infer', 'obligate'] | {text: x.text, n: s.count, kind: x.kind}] AS near
WITH places, ['object', 'clothes', 'work', 'food', 'drink', 'plant', 'vehicle', 'animal'] AS things,
     reduce(most = [], x IN near | CASE
       WHEN size(most) = 12 AND (most[11].n > x.n OR most[11].n = x.n AND most[11].text < x.text) THEN most
       ELSE ([m IN most WHERE m.n > x.n OR m.n = x.n AND m.text < x.text] + [x]
         + [m IN most WHERE m.n < x.n OR m.n = x.n AND m.text > x.text])[0..12] END) AS near
UNWIND places AS p
WITH p, things, [x IN near WHERE x.text <> p.observed AND NOT x.text IN p.said AND (coalesce(x.kind, p.kind) = p.kind
         OR p.kind IN things AND x.kind IN things)
       | {text: x.text, kind: x.kind}][0..4] AS texts
WITH p.i AS i, p.amr AS amr, things, p.observed AS observed, collect(CASE WHEN p.own THEN [] ELSE texts END) AS others,
     collect(CASE WHEN p.own THEN texts ELSE [] END) AS own
WITH i, amr, things, observed, own, reduce(all = [], found IN others | all + found) AS others
WITH i, amr, things, observed, split(observed, ' ') AS parts,
     CASE WHEN size(others) > 0 THEN others ELSE reduce(all = [], found IN own | all + found) END AS texts
WHERE size(texts) > 0
MATCH (n:AmrNode {amr: amr})-[:LEXEME]->(w:Term)
WHERE (w.text = observed OR w.text IN parts) AND NOT n.concept IN ['contrast-01', 'infer-01', 'cause-01',
  'possible-01', 'recommend-01', 'obligate-01', 'permit-01', 'say-01', 'tell-01', 'ask-01', 'have-03', 'have-01', 'do-02', 'thing', 'way']
WITH i, amr, things, observed, parts, texts, n, w, n.k AS k
ORDER BY i, amr, k
WITH i, amr, observed, parts, texts,
     collect({k: k, up: n.up, last: n.last, verb: n.frame, kinds: CASE WHEN n.role = 'ARG1' AND n.kind IN things AND any(c IN
         [(n)<-[:ROLE]-(q:AmrNode) | q.concept] WHERE c IN ['have-03', 'have-01', 'buy-01', 'see-01', 'lose-02', 'like-01', 'like-02',
         'love-01', 'hate-01', 'bring-01', 'want-01', 'take-01', 'get-01', 'need-01', 'find-01', 'forget-01', 'leave-13', 'sell-01',
         'give-01', 'send-01', 'show-01', 'offer-01', 'keep-01', 'carry-01', 'drop-01', 'put-01', 'choose-01', 'prefer-01',
         'remember-01', 'know-02', 'look-01', 'describe-01', 'mention-01', 'use-01', 'check-01', 'afford-01', 'recommend-01',
         'order-02', 'own-01', 'rent-01', 'steal-01', 'borrow-01',
       'lend-02', 'receive-01', 'return-02', 'share-01', 'hold-01', 'throw-01', 'draw-01', 'think-01', 'talk-01', 'miss-02', 'fear-01']) THEN things ELSE [n.kind] END, word: w.text,
       roles: [(n)-[r:ROLE]->(c:AmrNode) WHERE r.role = 'name' OR r.role STARTS WITH 'ARG' AND n.frame
         AND (r.role <> 'ARG1' OR c.kind <> 'other') | r.role]}) AS words
WITH i, amr, texts, words, [w IN words WHERE w.word = observed] AS whole,
     [w IN words WHERE w.word = parts[size(parts) - 1]] AS heads
WITH i, amr, texts, words, CASE WHEN size(whole) > 0 THEN whole ELSE heads END AS places
WHERE size(places) > 0 AND NOT any(p IN places WHERE 'name' IN p.roles)
WITH i, amr, texts, places, [w IN words WHERE w.last = w.k AND w.word <> places[0].word
       AND any(p IN places WHERE p.k = w.up) | w.k] AS gone
UNWIND texts AS x
WITH DISTINCT i, amr, places, gone, x.text AS text, x.kind AS kind
OPTIONAL MATCH (f:Frame {lemma: text})
WITH i, amr, places, gone, text, kind, f.id AS id, f.roles AS roles
ORDER BY i, amr, text, id
WITH i, amr, places, gone, text, kind, collect({id: id, roles: roles}) AS frames
WITH i, amr, gone, text, [p IN places | {k: p.k, concept: CASE
       WHEN p.verb THEN null
       WHEN (kind IN p.kinds AND kind <> 'other' OR kind IS NULL AND frames[0].id IS NULL) AND NOT text =~ '.* .*|.+[^su]s|.{3,}ed|.{3,}ly|.{3,}ing' THEN text END}] AS places
WHERE all(p IN places WHERE p.concept IS NOT NULL)
UNWIND [p IN places | {amr: amr, k: p.k, op: 'set', concept: p.concept, site: amr + '>' + text}]
  + [k IN gone | {amr: amr, k: k, op: 'drop', site: amr + '>' + text}] AS edit
RETURN $dialogues[i].id AS dialogue, collect(edit) AS edits
