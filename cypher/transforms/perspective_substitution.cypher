// perspective_substitution: Replaces the keyword to which a reply shifts the topic: "letters" in "She loves letters".
// category: C-cont
// source: CAPT (Ou et al. 2022, Algorithm 1), substitutes of the reply perspective; Gupta et al. (2021), Key-sem
// target: dialogue
// needs: shifts, frames
//
// Before: A: You should write her a letter.  B: That's a good idea. She loves letters.
// After:  A: You should write her a letter.  B: That's a good idea. She loves machines.
// Graph:  (l / love-01 :ARG0 (s / she) :ARG1 (l2 / letter)) => (l / love-01 :ARG0 (s / she) :ARG1 (m / machine))
//
// The post is the utterance before the reply. The FOCUS of the reply is the keyword of the post that the reply takes
// up. The PERSPECTIVE is the keyword to which the reply shifts the topic. SHIFTS_TO points from a focus to the
// perspectives of the replies that take it up, and counts these replies. A substitute is a frequent perspective of the
// replies that take up a certain keyword of the post. The query works in three steps:
//   1. For each keyword of the post, find the substitutes to which SHIFTS_TO points from this keyword.
//   2. Choose the keywords of the post whose substitutes are used.
//   3. Find the nodes of the reply's graph that express the perspective, and replace their concept by the substitute.
//
// Departures from CAPT:
// - CAPT looks for correct replies and takes substitutes from the focus. Here, substitutes come from the other keywords
//   of the post, so that the reply is about the wrong thing. The focus is used only if no other keyword gives a
//   substitute.
// - In CAPT, a predictor chooses one substitute from each of several subsets of the candidates. Here, the candidates
//   are the perspectives of the twelve most frequent shifts from each keyword. At most four candidates per keyword are
//   used: the most frequent candidates that fit the kind of the perspective and that the dialogue does not mention.
// - A substitute is one word in its base form. It must fit the selectional preferences of the predicate, if there are
//   any.
// - Frames are not replaced, because another verb seldom takes the same arguments. Nodes with names are not replaced.
// - If a perspective consists of several words ("coffee shop") and no single node expresses it, the node of its last
//   word is replaced and the nodes of its other words are dropped.

// Step 1: find the substitutes for the perspective of each reply, such as "machine" for "letter".
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (:AmrNode {amr: t.amr})-[:LEXEME]->(word:Term)
WITH d, collect(DISTINCT word.text) AS dialogue_words
UNWIND d.turns AS t
MATCH (:Amr {id: t.amr})<-[:MEANS]-(reply:Utterance)-[:PERSPECTIVE]->(perspective:Term)
MATCH (reply)-[:FOCUS]->(focus:Term)
MATCH (reply)<-[:NEXT]-(:Utterance)-[:MENTIONS]->(keyword:Term)
// Collect the replies to all posts that contain a keyword. The shifts from the keyword then need to be sorted only
// once, not for each reply.
WITH keyword, collect({
       dialogue: d.id, amr: t.amr, dialogue_words: dialogue_words, perspective: perspective,
       is_focus: keyword.text = focus.text}) AS replies
WITH replies,
     // Keep the twelve most frequent candidates. Equally frequent candidates are in alphabetical order. The list is
     // sorted by insertion, because ORDER BY would need more memory than the embedded server has: it would sort a row
     // for each pair of a keyword and a candidate, and each row would contain all replies of the keyword.
     reduce(top = [], new IN [(keyword)-[shift:SHIFTS_TO]->(candidate:Term)
       // Skip "thing", "lot" and "way", which are not topics.
       WHERE NOT coalesce('empty' IN candidate.classes, false)
       | {count: shift.count, text: candidate.text, term: candidate}]
       | CASE
           // top is a sorted list of the 12 best candidates. Ignore a candidate that is worse than the twelfth.
           WHEN top[11].count > new.count OR top[11].count = new.count AND top[11].text < new.text THEN top
           ELSE (
             // Insert the new candidate at its place in the sorted list, and keep the first 12 candidates.
             [old IN top WHERE old.count > new.count OR old.count = new.count AND old.text < new.text]
             + [new]
             + [old IN top WHERE old.count < new.count OR old.count = new.count AND old.text > new.text])[..12]
         END) AS top
UNWIND replies AS reply
WITH reply, reply.perspective AS perspective, [entry IN top | entry.term] AS candidates
WITH reply, perspective, [candidate IN candidates WHERE
       // The substitute must be new to the dialogue. With a word from the dialogue, the reply could be
       // correct.
       NOT candidate.text IN reply.dialogue_words
       // The substitute must differ from the perspective (the keyword of the reply). The condition above does
       // not ensure this for "coffee shop", because dialogue_words contains only "coffee" and "shop".
       AND candidate.text <> perspective.text
       AND (
         // If the kind of the perspective is unknown, keep every candidate. Step 3 checks whether the
         // candidate fits the predicate of the sentence.
         perspective.kind IS NULL
         // "Letter" can become "book", because both nouns have the kind "work".
         OR candidate.kind = perspective.kind
         // "Letter" can become "machine", because both are physical objects. Step 3 checks whether the new noun fits
         // the predicate of the sentence.
         OR candidate.physical_object AND perspective.physical_object)
     ][..4] AS substitutes

// Step 2: choose the keywords of the post whose substitutes are used.
WITH reply.dialogue AS dialogue, reply.amr AS amr, perspective.text AS perspective,
     collect({is_focus: reply.is_focus, substitutes: substitutes}) AS keywords
UNWIND [keyword IN keywords WHERE
  // Prefer keywords of the post that are not the focus. In "You should write her a letter", the focus of the reply is
  // "write". So use the substitutes of the other keyword, "letter": words to which replies shift from "letter".
  NOT keyword.is_focus
  // Use the focus ("write") only if no other keyword of the post has substitutes.
  OR all(other IN keywords WHERE other.is_focus OR size(other.substitutes) = 0)] AS keyword
UNWIND keyword.substitutes AS substitute
// DISTINCT is needed, because two keywords can have the same substitute.
WITH DISTINCT dialogue, amr, perspective, substitute
WHERE (
    // Concepts are lemmas, so the substitute must be one, too: "letter", not "letters", "loving" or "loved".
    substitute.form = 'base'
    // A term that was created without the lexicon has no property "form", so it is not known whether it is a lemma.
    // Such a term must be a single word.
    OR substitute.form IS NULL AND NOT substitute.text CONTAINS ' ')
  // Do not use words of unknown kind, because most of them are names, such as "Angie".
  AND substitute.kind <> 'other'

// Step 3: find the nodes to replace and to drop.
WITH dialogue, amr, perspective, split(perspective, ' ') AS perspective_words, substitute
MATCH (node:AmrNode {amr: amr})-[:LEXEME]->(word:Term)
WHERE
  // The node expresses the perspective ("coffee shop") or one of its words ("coffee", "shop").
  word.text IN perspective_words + [perspective]
  // Structural concepts such as cause-01, have-03 and "thing" occur in many sentences and express no topic, so they are
  // not replaced.
  AND NOT 'structural' IN node.classes
WITH dialogue, amr, perspective, last(perspective_words) AS last_word, substitute, node, node.position AS position,
     word.text AS word
ORDER BY amr, position
WITH dialogue, amr, perspective, last_word, substitute, collect({node: node, word: word}) AS expressions
WITH dialogue, amr, substitute, expressions,
     [e IN expressions WHERE e.word = perspective | e.node] AS whole,
     [e IN expressions WHERE e.word = last_word | e.node] AS heads
// If nodes express the whole perspective ("coffee shop"), replace them. Otherwise replace the nodes of the head, which
// is the last word ("shop").
WITH dialogue, amr, substitute, expressions, CASE WHEN size(whole) > 0 THEN whole ELSE heads END AS replaced
WHERE size(replaced) > 0
  AND all(node IN replaced WHERE
    // The node has no name: "Paris" is the concept "city" with a name, and must not become "town".
    node.has_name IS NULL
    // Verbs are not replaced, because another verb seldom takes the same arguments: in "I like the sea", "like-01" does
    // not become "visit".
    AND node.frame IS NULL
    // The substitute must fit the predicate: for "read a letter", "book" fits, but "hat" does not.
    AND (
      node.selectional_preferences IS NULL
      OR substitute.noun_class IN node.selectional_preferences
      OR substitute.text IN node.selectional_preferences)
    AND (
      // "I wrote a letter" can become "I wrote an email", because both are messages.
      substitute.kind = node.kind
      // "I bought a letter" can become "I bought a machine", because any physical object can be owned, bought or seen.
      OR substitute.physical_object AND node.possessed_or_perceived))
WITH dialogue, amr, substitute.text AS concept, amr + '>' + substitute.text AS site, replaced,
     // The other words of the replaced keyword are dropped: "coffee shop" becomes "station", not "coffee station".
     [e IN expressions WHERE
       NOT e.node IN replaced
       // Only leaves are dropped, so that no other content is lost: "hot" stays in "shop for hot coffee".
       AND e.node.position = e.node.subtree_last
       AND e.node.parent IN [node IN replaced | node.position]
       | e.node] AS dropped
UNWIND [node IN replaced | {amr: amr, position: node.position, op: 'set', concept: concept, site: site}]
  + [node IN dropped | {amr: amr, position: node.position, op: 'drop', site: site}] AS edit
RETURN dialogue, collect(edit) AS edits
