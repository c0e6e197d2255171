// perspective: Makes the keyword that the reply moves to one that another keyword of the post leads to.
// category: C-cont
// source: CAPT (Ou et al. 2022), substitutes of the reply perspective; Gupta et al. (2021), Key-sem
// target: dialogue
// needs: shifts, frames
//
// The reply has a FOCUS, the keyword of the post that it answers, and a PERSPECTIVE, its own
// keyword. All nodes that say the perspective become a word of its kind (a thing of any kind,
// where one has, buys or sees it) that SHIFTS_TO leads to from another keyword of the post; from
// the focus itself, where no other keyword leads anywhere. Of the dozen that a keyword most often
// leads to, the first four of that kind that the dialogue does not say are a site each; the
// perspective itself never is. A noun becomes one word that is no plural, participle or adverb.
// It is one that the predicate takes, where it takes not everything; what has no kind is a name.
// What a frame says stays: other verbs seldom take what follows it. Of a perspective of several
// words that no one node says, the last word is replaced and the others go.
UNWIND $dialogues AS d UNWIND d.turns AS t MATCH (:AmrNode {amr: t.amr})-[:LEXEME]->(w:Term)
WITH d, collect(DISTINCT w.text) AS said UNWIND d.turns AS t
MATCH (:Amr {id: t.amr})<-[:MEANS]-(u:Utterance)-[:PERSPECTIVE]->(p:Term)
MATCH (u)-[:FOCUS]->(f:Term) MATCH (u)<-[:NEXT]-(:Utterance)-[:MENTIONS]->(k:Term)
WITH k, collect({id: d.id, amr: t.amr, said: said, p: p, own: k.text = f.text}) AS replies
WITH replies, reduce(top = [], x IN [(k)-[s:SHIFTS_TO]->(x:Term)
       WHERE NOT coalesce('empty' IN x.classes, false) | {n: s.count, text: x.text, x: x}]
       | CASE WHEN top[11].n > x.n OR top[11].n = x.n AND top[11].text < x.text THEN top ELSE (
         [m IN top WHERE m.n > x.n OR m.n = x.n AND m.text < x.text] + [x] + [m IN top
         WHERE m.n < x.n OR m.n = x.n AND m.text > x.text])[0..12] END) AS top UNWIND replies AS r
WITH r, r.p AS p, [x IN top WHERE NOT x.text IN r.said + [r.p.text] AND
       (r.p.kind IS NULL OR x.x.kind = r.p.kind OR x.x.goods AND r.p.goods) | x.x][0..4] AS xs
WITH r.id AS dialogue, r.amr AS amr, p.text AS said, collect({own: r.own, xs: xs}) AS found
UNWIND [f IN found WHERE NOT f.own OR all(g IN found WHERE g.own OR size(g.xs) = 0)] AS f
UNWIND [x IN f.xs WHERE x.form = 'base' OR x.form IS NULL AND NOT x.text CONTAINS ' '] AS x
WITH DISTINCT dialogue, amr, said, split(said, ' ') AS parts, x
MATCH (n:AmrNode {amr: amr})-[:LEXEME]->(w:Term)
WHERE w.text IN parts + [said] AND NOT 'structural' IN n.classes
WITH dialogue, amr, x, n, n.k AS k, CASE w.text WHEN said THEN 2 WHEN last(parts) THEN 1
       ELSE 0 END AS rank ORDER BY amr, k
WITH dialogue, amr, x, max(rank) AS best, collect({n: n, k: k, rank: rank}) AS ns
WITH dialogue, amr, x, ns, [n IN ns WHERE n.rank = best AND best > 0 | n.n] AS places
WHERE size(places) > 0 AND all(p IN places WHERE p.named IS NULL AND p.frame IS NULL
  AND (p.takes IS NULL OR x.sort IN p.takes OR x.text IN p.takes) AND x.kind <> 'other'
  AND (x.kind = p.kind OR x.goods AND p.handled))
UNWIND [p IN places | {amr: amr, k: p.k, op: 'set', concept: x.text, site: amr + '>' + x.text}]
  + [n IN ns WHERE NOT n.n IN places AND n.k = n.n.last AND n.n.up IN [p IN places | p.k]
      | {amr: amr, k: n.k, op: 'drop', site: amr + '>' + x.text}] AS edit
RETURN dialogue, collect(edit) AS edits
