// perspective_substitution: Replaces the perspective keyword of a reply by one to which another keyword of the post leads.
// category: C-cont
// source: CAPT (Ou et al. 2022, Algorithm 1), substitutes of the reply perspective; Gupta et al. (2021), Key-sem
// target: dialogue
// needs: shifts, frames
//
// Before: A: You should write her a letter.  B: That's a good idea. She loves letters.
// After:  A: You should write her a letter.  B: That's a good idea. She loves machines.
// Graph:  (l / love-01 :ARG0 (s / she) :ARG1 (l2 / letter)) => (l / love-01 :ARG0 (s / she) :ARG1 (m / machine))
//
// The FOCUS of a reply is the keyword of the post that the reply is about, and its PERSPECTIVE is its own keyword.
// SHIFTS_TO relationships lead from a keyword of a post to the perspectives of replies to such posts. All nodes that
// express the perspective are replaced. Each substitute is a site.
//
// Departures from CAPT:
// - CAPT looks for correct replies and takes substitutes from the focus. Here they come from the other keywords of the
//   post, so that the reply is about the wrong thing. The focus is used only if no other keyword gives a substitute.
// - For each keyword, the twelve most frequent shifts are considered. Of these, the first four that are of the
//   perspective's kind and do not occur in the dialogue become sites. For something that one has, buys or sees, things of
//   all kinds count as the same kind.
// - A substitute is one word in its base form, and must fit the predicate's selectional preferences, if it has any.
// - Frames and nodes with names are not replaced, because another verb seldom takes the same arguments.
// - If a perspective consists of several words ("coffee shop") and no single node expresses it, its last word is replaced
//   and its other words are dropped.
UNWIND $dialogues AS d UNWIND d.turns AS t MATCH (:AmrNode {amr: t.amr})-[:LEXEME]->(w:Term)
// Collect all words of the dialogue, because a substitute must not be among them.
WITH d, collect(DISTINCT w.text) AS said UNWIND d.turns AS t
MATCH (:Amr {id: t.amr})<-[:MEANS]-(u:Utterance)-[:PERSPECTIVE]->(p:Term)
MATCH (u)-[:FOCUS]->(f:Term) MATCH (u)<-[:NEXT]-(:Utterance)-[:MENTIONS]->(k:Term)
// Group the replies by the keyword of the post, so that the shifts of each keyword are sorted only once.
WITH k, collect({id: d.id, amr: t.amr, said: said, p: p, own: k.text = f.text}) AS replies
WITH replies,
     // Find the twelve most frequent shifts from the keyword, in alphabetical order if they are equally frequent. Each is
     // inserted into a sorted list, because ORDER BY and LIMIT would need a CALL subquery, which transforms avoid.
     reduce(top = [], x IN [(k)-[s:SHIFTS_TO]->(x:Term)
       // Skip words such as "thing", "lot" and "way", which are not topics.
       WHERE NOT coalesce('empty' IN x.classes, false) | {n: s.count, text: x.text, x: x}]
       | CASE
           // If the list is full and the new shift comes after its last entry, the list stays as it is.
           WHEN top[11].n > x.n OR top[11].n = x.n AND top[11].text < x.text THEN top
           ELSE (
             [m IN top WHERE m.n > x.n OR m.n = x.n AND m.text < x.text]
             + [x]
             + [m IN top WHERE m.n < x.n OR m.n = x.n AND m.text > x.text])[0..12]
         END) AS top
UNWIND replies AS r
WITH r, r.p AS p,
     [x IN top WHERE
       // The substitute must be neither a word of the dialogue nor the perspective itself.
       NOT x.text IN r.said + [r.p.text]
       AND (r.p.kind IS NULL
         // It must be of the same kind: "letter" can become another message.
         OR x.x.kind = r.p.kind
         // Or both must be things: "letter" can become "machine".
         OR x.x.physical_object AND r.p.physical_object) | x.x][0..4] AS xs
WITH r.id AS dialogue, r.amr AS amr, p.text AS said, collect({own: r.own, xs: xs}) AS found
UNWIND [f IN found WHERE
  // Use the substitutes of each keyword that is not the focus.
  NOT f.own
  // Use those of the focus only if the other keywords have no substitute.
  OR all(g IN found WHERE g.own OR size(g.xs) = 0)] AS f
UNWIND [x IN f.xs WHERE
  // Use base forms only, not "letters", "loving" or "loved".
  x.form = 'base'
  // If the form of the term is unknown, use it if it is a single word.
  OR x.form IS NULL AND NOT x.text CONTAINS ' '] AS x
WITH DISTINCT dialogue, amr, said, split(said, ' ') AS parts, x
MATCH (n:AmrNode {amr: amr})-[:LEXEME]->(w:Term)
WHERE
  // Match nodes that express the perspective ("coffee shop") or one of its words ("shop").
  w.text IN parts + [said]
  // Skip concepts that only connect others, such as cause-01.
  AND NOT 'structural' IN n.classes
WITH dialogue, amr, x, n, n.position AS position,
     // Prefer nodes that express the whole perspective, then those that express its last word.
     CASE w.text WHEN said THEN 2 WHEN last(parts) THEN 1
       ELSE 0 END AS rank ORDER BY amr, position
WITH dialogue, amr, x, max(rank) AS best, collect({n: n, position: position, rank: rank}) AS ns
WITH dialogue, amr, x, ns, [n IN ns WHERE n.rank = best AND best > 0 | n.n] AS places
WHERE size(places) > 0
  AND all(p IN places WHERE
    // Do not replace nodes with a name: the city "Paris" is not the word "town".
    p.has_name IS NULL
    // Do not replace frames.
    AND p.frame IS NULL
    // The substitute must fit the predicate: for "read a letter", "book" fits, but "hat" does not.
    AND (p.selectional_preferences IS NULL OR x.noun_class IN p.selectional_preferences OR x.text IN p.selectional_preferences)
    // Skip substitutes of no known kind, which are mostly names.
    AND x.kind <> 'other'
    // The kinds must be the same. If somebody has, buys or sees the thing, any other thing can replace it.
    AND (x.kind = p.kind OR x.physical_object AND p.possessed_or_perceived))
UNWIND [p IN places | {amr: amr, position: p.position, op: 'set', concept: x.text, site: amr + '>' + x.text}]
  // Drop the other words of the perspective: "coffee shop" becomes "station", not "coffee station".
  + [n IN ns WHERE
      NOT n.n IN places
      // Drop only leaves, so that nothing else is lost.
      AND n.position = n.n.subtree_last
      AND n.n.parent IN [p IN places | p.position]
      | {amr: amr, position: n.position, op: 'drop', site: amr + '>' + x.text}] AS edit
RETURN dialogue, collect(edit) AS edits
