// perspective: Makes the keyword that the reply moves to another one: where another keyword of the post would lead.
// category: C-cont
// source: CAPT (Ou et al. 2022), substitutes of the reply perspective; Gupta et al. (2021), Key-sem
// needs: shifts, frames
//
// The reply has a FOCUS, the keyword of the post that it answers, and a PERSPECTIVE, its own keyword. All nodes
// that say the perspective become a word that SHIFTS_TO leads to from another keyword of the post; from the focus
// itself, where no other keyword leads anywhere. Each of the dozen most frequent is a site. Never the perspective
// itself, nor a word that the dialogue says. A frame becomes the lowest frame of the word that has the roles in
// use, a noun a word of no frame. Of a perspective of several words that no one node says, the last word is
// replaced and the others go.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})-[:LEXEME]->(w:Term)
WITH i, collect(DISTINCT w.text) AS said
UNWIND $dialogues[i].turns AS t
MATCH (:Amr {id: t.amr})<-[:MEANS]-(u:Utterance)-[:PERSPECTIVE]->(p:Term)
MATCH (u)-[:FOCUS]->(f:Term)
MATCH (u)<-[:NEXT]-(:Utterance)-[:MENTIONS]->(k:Term)-[s:SHIFTS_TO]->(x:Term)
WHERE x.text <> p.text AND NOT x.text IN said
WITH i, t.amr AS amr, p.text AS observed, x.text AS text,
     min(CASE WHEN k.text = f.text THEN 1 ELSE 0 END) AS own, sum(s.count) AS amount
ORDER BY i, amr, observed, own, amount DESC, text
WITH i, amr, observed, split(observed, ' ') AS parts, collect({text: text, own: own}) AS found
WITH i, amr, observed, parts, [c IN found WHERE c.own = found[0].own | c.text][0..12] AS texts
MATCH (n:AmrNode {amr: amr})-[:LEXEME]->(w:Term)
WHERE w.text = observed OR w.text IN parts
WITH i, amr, observed, parts, texts,
     collect({k: n.k, up: n.up, last: n.last, verb: n.frame, word: w.text, roles: CASE WHEN n.frame
       THEN [(n)-[r:ROLE]->(:AmrNode) WHERE r.role STARTS WITH 'ARG' | r.role] ELSE [] END}) AS words
WITH i, amr, texts, words, [w IN words WHERE w.word = observed] AS whole,
     [w IN words WHERE w.word = parts[size(parts) - 1]] AS heads
WITH i, amr, texts, words, CASE WHEN size(whole) > 0 THEN whole ELSE heads END AS places
WHERE size(places) > 0
WITH i, amr, texts, places, [w IN words WHERE w.last = w.k AND w.word <> places[0].word
       AND any(p IN places WHERE p.k = w.up) | w.k] AS gone
UNWIND texts AS text
OPTIONAL MATCH (f:Frame {lemma: text})
WITH i, amr, places, gone, text, f.id AS id, f.roles AS roles
ORDER BY i, amr, text, id
WITH i, amr, places, gone, text, collect({id: id, roles: roles}) AS frames
WITH i, amr, gone, text, [p IN places | {k: p.k, concept: CASE
       WHEN p.verb THEN [f IN frames WHERE f.id IS NOT NULL AND all(r IN p.roles WHERE r IN f.roles) | f.id][0]
       WHEN frames[0].id IS NULL AND NOT text CONTAINS ' ' THEN text END}] AS places
WHERE all(p IN places WHERE p.concept IS NOT NULL)
UNWIND [p IN places | {amr: amr, k: p.k, op: 'set', concept: p.concept, site: amr + '>' + text}]
  + [k IN gone | {amr: amr, k: k, op: 'drop', site: amr + '>' + text}] AS edit
RETURN $dialogues[i].id AS dialogue, collect(edit) AS edits
