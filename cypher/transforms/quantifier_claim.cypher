// quantifier_claim: Replaces a turn by a reply that repeats a statement with "none" for "all" or "never" for "always".
// category: C-cont
// source: Gupta et al. (2021), error category C-cont
//
// Before: A: I always drink tea in the morning.  B: Me too.
// After:  A: I always drink tea in the morning.  B: Why do you never drink tea in the morning?
// Graph:  (t / too ...)
//   => (c / cause-01 :ARG1 (d / drink-01 :polarity - :ARG0 (y / you) :ARG1 (t / tea) :time (e / ever) ...) ...)
//
// A statement of an earlier turn is repeated in a reply frame such as "Why ...?" (see negated_claim), with another
// quantity or frequency. The query works in three steps:
//   1. Find the statements that can be repeated, the later turns and the words that can be changed.
//   2. Choose the later turns to replace, and the reply frames of each statement.
//   3. Make the edits: replace the turn by a copy of the statement, then change the word in the copy.
//
// The lexicon lists the quantities (relationship ALTERNATIVE, scale quantifier). "Never" is "ever" with a negation.

// Step 1: find the earlier statements, the later turns that can be replaced, and the quantities that can be changed.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The edit "say" replaces it and everything below it.
  n.position = 0
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters."
  OR n.repeatable IS NOT NULL
  // The node is *you* or *we*. Step 2 excludes some replies that repeat a statement with these pronouns.
  OR n.concept IN ['you', 'we']
  // The node says how many or how often: "always", "many", "everyone".
  OR n.concept IN ['anyone', 'anybody', 'anything', 'any', 'again']
  OR n.role IN ['ARG0', 'ARG1', 'ARG2', 'polarity']
  OR n.role IN ['time', 'manner', 'frequency', 'mod', 'quant', 'degree']
OPTIONAL MATCH (n)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'quantifier'}]->(x:Term)
WITH d, t, n, [o IN collect(x.text) WHERE o IS NOT NULL] AS options
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker, options: options}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops,
     [n IN nodes WHERE n.node.concept = 'you'] AS addressees,
     [n IN nodes WHERE n.node.concept = 'we'] AS groups
UNWIND [n IN nodes WHERE
  n.node.repeatable IS NOT NULL
  // Only statements can be contradicted. "Where is it?" and "Sit down!" claim nothing.
  AND n.node.clause_type = 'statement'
  // The node is a main predicate ("know" in "I know that she loves letters"; "tired" and "work" in "I'm tired, but she
  // works"), or the ARG1 of the top: in "I stayed because it rained", the top is cause-01, and its ARG1 is the main
  // clause.
  AND (n.node.main_clause OR n.node.parent = n.node.sentence_top AND n.node.role = 'ARG1')
  // Skip long sentences, because readers do not notice a small change in them.
  AND n.node.subtree_last - n.position <= 16
  // Skip "I think" and "I know".
  AND NOT 'thinking' IN n.node.classes] AS claim

// Step 2: choose the later turns to replace, and the reply frames, such as "So ...?", for the repeated statement.
WITH nodes, dialogue, tops, claim, claim.node AS predicate,
     coalesce(claim.node.repeatable, '') = 'anywhere' AS context_free,
     // True if the statement contains "you": "You can call me" is about the addressee, too.
     size([y IN addressees WHERE y.amr = claim.amr AND claim.node.sentence_top IN y.node.pronoun_sentences]) > 0
       AS to_addressee,
     // True if the statement contains "we". The other speaker does not repeat "We went to Rome", because "we"
     // may or may not include the other speaker.
     size([w IN groups WHERE w.amr = claim.amr AND claim.node.sentence_top IN w.node.pronoun_sentences]) > 0
       AS of_group,
     // The quantities and frequencies of the statement that can be replaced, such as "always".
     [c IN nodes WHERE c.amr = claim.amr AND size(c.options) > 0
        AND c.position >= claim.position AND c.position <= claim.node.subtree_last
        AND (
          // In the graph of "He never eats meat", "never" is the node "ever" and a negation. The edits replace "ever"
          // by "always" and drop the negation.
          c.node.concept = 'ever' AND c.node.parent = claim.position AND claim.node.negation_position IS NOT NULL
            // Skip "It never hurt anyone", because "It always hurt anyone" is not English.
            AND size([a IN nodes WHERE a.amr = c.amr
              AND a.node.concept IN ['anyone', 'anybody', 'anything', 'any', 'again']]) = 0
          // Replace words such as "always" only in affirmative clauses. "Always" becomes "ever", and the main
          // predicate is negated ("never"). So "always" must belong to the main predicate.
          OR c.node.concept <> 'ever' AND claim.node.negated IS NULL
            AND (c.options <> ['ever'] OR c.node.parent = claim.position)
          // "Nobody came", "I need nothing": the word itself is the negation.
          OR c.node.concept IN ['nobody', 'nothing'])] AS changes
WHERE size(changes) > 0
UNWIND [top IN tops WHERE
  top.turn > claim.turn AND (
    // "She loves it" is repeated only in the next turn, by the other speaker. Later, it may be unclear who
    // "she" is.
    top.turn = claim.turn + 1 AND top.speaker <> claim.speaker
    // "My sister loves letters" is clear without its context, so either speaker can repeat it up to four turns later.
    OR context_free AND top.turn <= claim.turn + 4)] AS top
WITH dialogue, predicate, top, to_addressee, of_group, changes,
     CASE WHEN top.speaker = claim.speaker THEN 'own' ELSE 'other' END AS voice
WHERE NOT (voice = 'other' AND of_group)
UNWIND CASE
    WHEN voice = 'own' THEN ['claim', 'said']
    // If the statement is about the addressee, do not ask "why": speakers know why they do something, so "Why do I
    // never drink tea?" would be strange.
    WHEN to_addressee THEN ['check', 'meaning']
    ELSE ['check', 'why', 'surprise', 'meaning']
  END AS frame
UNWIND changes AS change
UNWIND change.options AS option

// Step 3: make the edits: replace the turn by a copy of the statement, then change a word of the copy.
UNWIND [{position: 0, op: 'say', from_amr: predicate.amr, from_position: predicate.position, voice: voice, frame: frame},
    {position: change.position, op: 'set', concept: option, copy_of: predicate.amr}]
  // "always" becomes "never", that is, "ever" with a negation, and "never" becomes "always".
  + CASE WHEN option = 'ever'
      THEN [{position: predicate.position, op: 'add', role: 'polarity', value: '-', copy_of: predicate.amr}] ELSE [] END
  + CASE WHEN change.node.concept = 'ever'
      THEN [{position: predicate.negation_position, op: 'drop', copy_of: predicate.amr}] ELSE [] END
  // "many" becomes "only a few".
  + CASE WHEN option = 'few'
      THEN [{position: change.position, op: 'add', role: 'mod', concept: 'only', copy_of: predicate.amr}] ELSE [] END
  AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + toString(change.position) + option
    + '>' + frame}) AS edits
