// perspective: Replaces the reply's perspective keyword by one that another keyword of the post leads to.
// category: C-cont
// source: CAPT (Ou et al. 2022, Algorithm 1), substitutes of the reply perspective; Gupta et al. (2021), Key-sem
// target: dialogue
// needs: shifts, frames
//
// Before: A: You should write her a letter.  B: That's a good idea. She loves letters.
// After:  A: You should write her a letter.  B: That's a good idea. She loves machines.
// Graph:  (l / love-01 :ARG0 (s / she) :ARG1 (l2 / letter)) => (l / love-01 :ARG0 (s / she) :ARG1 (m / machine))
//
// FOCUS is the keyword of the post that the reply answers, PERSPECTIVE the reply's own keyword. SHIFTS_TO leads from a
// keyword of a post to the perspectives that replies moved to. All nodes that say the perspective are replaced. Each
// substitute is a site.
//
// Departures from CAPT:
// - CAPT takes substitutes from the focus, because it looks for right replies. Here they come from the other keywords
//   of the post, and from the focus only where no other keyword leads anywhere: the reply is then about the wrong thing.
// - For each keyword, the twelve most frequent shifts are looked at. The first four of the perspective's kind that the
//   dialogue does not say become sites. Where one has, buys or sees a thing, things of any kind are one kind.
// - A substitute is one word in its base form, and must fit the predicate's selectional preferences, if it has any.
// - Nodes of frames and names stay: another verb seldom takes the same arguments.
// - Where no single node says a perspective of several words ("coffee shop"), its last word is replaced and its other
//   words are dropped.
UNWIND $dialogues AS d UNWIND d.turns AS t MATCH (:AmrNode {amr: t.amr})-[:LEXEME]->(w:Term)
// All words of the dialogue: a substitute must be new.
WITH d, collect(DISTINCT w.text) AS said UNWIND d.turns AS t
MATCH (:Amr {id: t.amr})<-[:MEANS]-(u:Utterance)-[:PERSPECTIVE]->(p:Term)
MATCH (u)-[:FOCUS]->(f:Term) MATCH (u)<-[:NEXT]-(:Utterance)-[:MENTIONS]->(k:Term)
// Replies are grouped by the keyword, so that the shifts of each keyword are sorted only once.
WITH k, collect({id: d.id, amr: t.amr, said: said, p: p, own: k.text = f.text}) AS replies
WITH replies,
     // The twelve most frequent shifts from the keyword, the alphabet deciding between equals: an insertion into a
     // sorted list. ORDER BY and LIMIT would need a CALL subquery, which transforms avoid.
     reduce(top = [], x IN [(k)-[s:SHIFTS_TO]->(x:Term)
       // "thing", "lot" and "way" are no topics.
       WHERE NOT coalesce('empty' IN x.classes, false) | {n: s.count, text: x.text, x: x}]
       | CASE
           // The list is full and the new one comes after its last entry.
           WHEN top[11].n > x.n OR top[11].n = x.n AND top[11].text < x.text THEN top
           ELSE (
             [m IN top WHERE m.n > x.n OR m.n = x.n AND m.text < x.text]
             + [x]
             + [m IN top WHERE m.n < x.n OR m.n = x.n AND m.text > x.text])[0..12]
         END) AS top
UNWIND replies AS r
WITH r, r.p AS p,
     [x IN top WHERE
       // Neither a word of the dialogue nor the perspective itself.
       NOT x.text IN r.said + [r.p.text]
       AND (r.p.kind IS NULL
         // "letter" becomes another message ...
         OR x.x.kind = r.p.kind
         // ... or any other thing.
         OR x.x.goods AND r.p.goods) | x.x][0..4] AS xs
WITH r.id AS dialogue, r.amr AS amr, p.text AS said, collect({own: r.own, xs: xs}) AS found
UNWIND [f IN found WHERE
  // A substitute of another keyword than the focus ...
  NOT f.own
  // ... or of the focus, where the others lead nowhere.
  OR all(g IN found WHERE g.own OR size(g.xs) = 0)] AS f
UNWIND [x IN f.xs WHERE
  // Not "letters", "loving" or "loved".
  x.form = 'base'
  // No form is known: one word.
  OR x.form IS NULL AND NOT x.text CONTAINS ' '] AS x
WITH DISTINCT dialogue, amr, said, split(said, ' ') AS parts, x
MATCH (n:AmrNode {amr: amr})-[:LEXEME]->(w:Term)
WHERE
  // The perspective ("coffee shop") or one of its words ("shop").
  w.text IN parts + [said]
  // Not a concept that only joins others, such as cause-01.
  AND NOT 'structural' IN n.classes
WITH dialogue, amr, x, n, n.k AS k,
     // The whole perspective before its last word, the last word before the others.
     CASE w.text WHEN said THEN 2 WHEN last(parts) THEN 1
       ELSE 0 END AS rank ORDER BY amr, k
WITH dialogue, amr, x, max(rank) AS best, collect({n: n, k: k, rank: rank}) AS ns
WITH dialogue, amr, x, ns, [n IN ns WHERE n.rank = best AND best > 0 | n.n] AS places
WHERE size(places) > 0
  AND all(p IN places WHERE
    // A city with a name stays: "Paris" is not "town".
    p.named IS NULL
    // A verb stays.
    AND p.frame IS NULL
    // "read a letter" takes a book, but no hat.
    AND (p.takes IS NULL OR x.sort IN p.takes OR x.text IN p.takes)
    // A word of no known kind is a name.
    AND x.kind <> 'other'
    // The same kind, or any thing under "have", "buy" or "see".
    AND (x.kind = p.kind OR x.goods AND p.handled))
UNWIND [p IN places | {amr: amr, k: p.k, op: 'set', concept: x.text, site: amr + '>' + x.text}]
  // The other words of the perspective go: "coffee shop" becomes "station", not "coffee station".
  + [n IN ns WHERE
      NOT n.n IN places
      // Only leaves: nothing else is lost.
      AND n.k = n.n.last
      AND n.n.up IN [p IN places | p.k]
      | {amr: amr, k: n.k, op: 'drop', site: amr + '>' + x.text}] AS edit
RETURN dialogue, collect(edit) AS edits
