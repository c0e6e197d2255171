// self_contradiction: Makes a speaker contradict one of their earlier statements. The denial replaces a later turn of the speaker or is added to it as a last sentence (:sntN).
// category: C-cont
// proof: contradicts
// source: DEAM (Ghazarian et al. 2022, section 3), contradiction
//
// Before: B: That's a good idea. She loves letters.  A: Send her a photo of your children, too.  B: I will do it
// tonight.
// After:  B: That's a good idea. She loves letters.  A: Send her a photo of your children, too.
//   B: I will do it tonight. She doesn't love letters.
// Graph:  (d / do-02 ...)
//   => (m / multi-sentence :snt1 (d / do-02 ...) :snt2 (l / love-01 :polarity - :ARG0 (s / she) :ARG1 (l2 / letter)))
//
// The sentence with the statement is copied into a later turn of the same speaker, and the main predicate of the copy
// is negated, as in the transform polarity_flip. If antonyms are loaded, an alternative edit replaces the predicate of
// the copy by its antonym instead: "She hates letters." The query works in four steps:
//   1. Find the statements that can be copied, and the later turns of the same speaker.
//   2. Find an antonym of each statement's predicate.
//   3. Choose one or two later turns, and up to three ways to use the copy in each of these turns.
//   4. Make the edits: copy the sentence, then change the copy.
//
// Departures from DEAM:
// - Only self-contained statements are copied. Questions, orders, reported speech, politeness formulas, hedged claims
//   and short answers ("I have") are skipped, because denying them contradicts nothing.
// - The copy is put into the speaker's next turn. If the statement does not refer to anything before it, a second later
//   turn is chosen as well. The number of proposed edits thus grows with the length of the dialogue, not with its
//   square.
// - DEAM appends the copy to the later turn. Here the copy can also replace the later turn, if this turn is the
//   response: the other sentences of a long response would still answer the context.

// Step 1: find the statements that can be repeated, and the later turns of the same speaker.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The edit adds a copied sentence below it.
  n.position = 0
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters." Sentences such as "I
  // have" and "That depends" mean nothing when they are repeated later.
  OR n.repeatable IS NOT NULL
WITH d.id AS dialogue,
     collect({node: n, position: n.position, turn: t.turn, speaker: t.speaker}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops
UNWIND [n IN nodes WHERE
  // The speaker can repeat the sentence later: "She loves letters", but not "It's snowing", which names nothing
  // concrete.
  n.node.repeatable IN ['anywhere', 'nearby']
  // The whole sentence is copied, but only one clause is negated. So skip sentences with two main clauses, such as "I'm
  // tired, and I have to go": the other clause would stay true.
  AND (n.position = n.node.sentence_top OR n.node.main_clause IS NULL)
  // Skip "Where is it?" and "Sit down!", which claim nothing that could be contradicted.
  AND n.node.clause_type = 'statement'
  // Skip "This is Kim" and "I'm Tina", because nobody denies their own name.
  AND coalesce(n.node.kind, '') <> 'person'
  AND (
    // "She doesn't love it" has a negation that can be dropped.
    n.node.negation_position IS NOT NULL
    // "She loves it" can get a negation. "Nobody came" cannot, because adding "not" would make it affirmative.
    OR n.node.negated IS NULL)] AS statement
WITH dialogue, statement.node AS predicate,
     // Collect the top nodes of the later turns of the same speaker, in order.
     [top IN tops WHERE top.turn > statement.turn AND top.speaker = statement.speaker | top.node] AS later_tops,
     // Cypher has no seeded random function, so this number determines which of the speaker's later turns is edited.
     statement.turn + statement.position AS number
WHERE size(later_tops) > 0

// Step 2: find an antonym of the statement's predicate. It is a frame ("hate-01") or a word ("cheap").
OPTIONAL MATCH (predicate)-[:LEXEME]->(:Term)-[a:ANTONYM]->(x)
WHERE
  // The two words are antonyms whatever they describe. "Old" and "young" are antonyms only for people and animals, so
  // they are skipped here, and only the transform antonym_substitution uses them.
  a.modified_kinds IS NULL
  // The new frame must have every numbered role that the statement uses: "sell it to me for two euros" needs ARG2 and
  // ARG3.
  AND all(role IN predicate.roles WHERE role IN x.roles)
  AND (
    // The antonym can replace the word as it is used in this sentence: "love" as the frame love-01 becomes hate-01.
    a.used_as = predicate.opposable_as
    // The antonym can replace every frame of the word that is not in PropBank. (The property "known" lists
    // the frames of the word that are in PropBank.)
    OR a.used_as = 'frame'
      AND predicate.frame
      AND NOT predicate.opposable_as IN a.known)
// If there are several antonyms, take the first in alphabetical order. An empty text means that there is no antonym.
WITH dialogue, predicate, later_tops, number, coalesce(min(coalesce(x.id, x.text)), '') AS antonym

// Step 3: choose the later turns to edit, and decide how each of them contradicts the statement.
WITH dialogue, predicate, later_tops, number, antonym, predicate.repeatable = 'anywhere' AS context_free
UNWIND
  // Always choose the next turn of the speaker: in later turns, it may not be clear who "she" in "She loves it" is.
  [later_tops[0]]
  // "My sister loves letters" can be repeated at any time, so also choose one of the speaker's later turns.
  + CASE WHEN context_free AND size(later_tops) > 1
      THEN [later_tops[1 + number % (size(later_tops) - 1)]] ELSE [] END AS top
UNWIND
  // The negated copy is added after the turn: "I will do it tonight. She doesn't love letters."
  [{append: true, antonym: ''},
  // The negated copy replaces the turn: "She doesn't love letters."
   {append: false, antonym: ''}]
  // The copy with an antonym is added after the turn: "I will do it tonight. She hates letters."
  + CASE antonym WHEN '' THEN [] ELSE [{append: true, antonym: antonym}] END AS way
WITH dialogue, predicate, context_free, top, way.append AS append, way.antonym AS antonym,
     predicate.amr AS source,
     top.amr + CASE WHEN way.append THEN 'snt' ELSE '' END
       + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + way.antonym AS site,
     CASE
       // If the copy is added to a turn, use the edit only in whole dialogues. As a response, it would be silly, because
       // the other sentences of the turn still answer the context: "I will help you with that. You don't need rice."
       WHEN way.append THEN 'dialogue'
       // If the copy replaces a whole turn, use the edit only to make wrong responses: the new turn no longer answers
       // the context.
       ELSE 'response'
     END AS target

// Step 4: make the edits.
WITH dialogue, top, site, target,
     // The score makes the engine prefer sentences that can be understood without their context.
     CASE WHEN context_free THEN 1 ELSE 0 END AS score,
     // A copy can be appended only to a multi-sentence. A turn with one sentence first becomes :snt1 of a
     // multi-sentence.
     CASE WHEN append AND top.concept <> 'multi-sentence'
       THEN [{position: 0, op: 'wrap', role: 'snt1', concept: 'multi-sentence'}]
       ELSE [] END AS make_multi_sentence,
     // Copy the whole sentence with the statement into the later turn.
     CASE WHEN append
       // The position -1 means the top of the edited graph, which may be the multi-sentence node that the
       // previous edit added.
       THEN {position: -1, op: 'graft', role: 'snt', from_amr: source, from_position: predicate.sentence_top}
       ELSE {position: 0, op: 'graft', from_amr: source, from_position: predicate.sentence_top}
     END AS copy_sentence,
     CASE
       // "She loves letters." becomes "She hates letters."
       WHEN antonym <> '' THEN {position: predicate.position, op: 'set', concept: antonym, copy_of: source}
       // "She doesn't love it." becomes "She loves it."
       WHEN predicate.negation_position IS NOT NULL
         THEN {position: predicate.negation_position, op: 'drop', copy_of: source}
       // "She loves letters." becomes "She doesn't love letters."
       ELSE {position: predicate.position, op: 'add', role: 'polarity', value: '-', copy_of: source}
     END AS change_copy
UNWIND make_multi_sentence + [copy_sentence, change_copy] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr, site: site, target: target, score: score}) AS edits
