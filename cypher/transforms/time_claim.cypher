// time_claim: Replaces a turn by a reply that repeats an earlier statement with another time.
// category: C-time
// proof: other argument
// source: Gupta et al. (2021), error category C-time
//
// Before: A: The customer expects it on Wednesday.  B: I know.
// After:  A: The customer expects it on Wednesday.  B: So the customer expects it on Sunday?
// Graph:  (k / know-01 ...)
//   => (e / expect-01 ... :time (d / date-entity :weekday (s / sunday)) :mode interrogative)
//
// A statement of an earlier turn is repeated in a reply frame such as "So ...?" (see negated_claim), with another time.
// The query works in three steps:
//   1. Find the statements that can be repeated, the later turns and the words that can be changed.
//   2. Choose the later turns to replace, and the reply frames of each statement.
//   3. Make the edits.
//
// The times change as in time_shift: words along the ALTERNATIVE relationships of the lexicon ("Wednesday" becomes
// "Sunday"), and the numbers in dates and clock times. No time is added to statements without a time, because the
// reply would not contradict them.

// Step 1: find the earlier statements, the later turns that can be replaced, and the times that can be changed.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The edit "say" replaces it and everything below it.
  n.position = 0
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters."
  OR n.repeatable IS NOT NULL
  // The node is an opinion: "I think that she loves letters."
  OR 'opinion' IN n.classes AND 'thinking' IN n.classes
  // The node is *you* or *we*. Step 2 excludes some replies that repeat a statement with these pronouns.
  OR n.concept IN ['you', 'we']
  // The word says when: "Wednesday", "tomorrow".
  OR n.temporal
  // The number is part of a date or a clock time: "at 9".
  OR n.time_number IS NOT NULL
OPTIONAL MATCH (n)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'time'}]->(x:Term)
WITH d, t, n, n.time_number AS number,
     // Do not replace fixed words: in "two days before the party", no other word can take the place of "before".
     CASE WHEN n.temporal AND n.fixed_time IS NULL
       // Keep units of time: in "next week", "day" instead of "week" would not be English.
       AND NOT 'time-unit' IN n.classes THEN x.text END AS concept
WITH d, t, n, concept,
     CASE
       // Add five months, modulo 12: December becomes May.
       WHEN n.role = 'month' THEN toString((number + 4) % 12 + 1)
       // Add ten days, modulo 28, so that the day exists in every month: the 25th becomes the 7th.
       WHEN n.role = 'day' THEN toString((number + 9) % 28 + 1)
       // Subtract 20 years: 1990 becomes 1970.
       WHEN n.role = 'year' AND number > 20 THEN toString(number - 20)
       // Add five hours on a twelve-hour clock: "9 o'clock" becomes "2 o'clock". Change only full hours, because other
       // times may be written in words that do not fit a new number ("half past seven").
       WHEN n.role = 'time' AND number >= 0 AND n.value ENDS WITH ':00"'
         THEN '"' + toString((number + 4) % 12 + 1) + right(replace(n.value, '"', ''), 3) + '"'
     END AS value
// Collect the replacements of each time word, because a word can have several.
WITH d, t, n,
     [o IN collect({concept: concept, value: value}) WHERE o.concept IS NOT NULL OR o.value IS NOT NULL] AS options
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker, options: options}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops,
     [n IN nodes WHERE n.node.concept = 'you'] AS addressees,
     [n IN nodes WHERE n.node.concept = 'we'] AS groups
UNWIND [n IN nodes WHERE
  (n.node.repeatable IS NOT NULL
    // An opinion is repeated only if it has content: "I think that she loves letters", but not "I agree".
    OR 'thinking' IN n.node.classes AND n.node.main_clause AND n.node.subtree_last - n.position > 2)
  // Only statements can be contradicted. "Where is it?" and "Sit down!" claim nothing.
  AND n.node.clause_type = 'statement'
  // The node is a main predicate ("know" in "I know that she loves letters"; "tired" and "work" in "I'm tired, but she
  // works"), or the ARG1 of the top: in "I stayed because it rained", the top is cause-01, and its ARG1 is the main
  // clause.
  AND (n.node.main_clause OR n.node.parent = n.node.sentence_top AND n.node.role = 'ARG1')
  // Skip long sentences, because readers do not notice a small change in them.
  AND n.node.subtree_last - n.position <= 16
  // Skip negative statements, because a change of one word may leave them true: "She doesn't love old letters" and
  // "She doesn't love new letters" do not contradict each other.
  AND n.node.negated IS NULL] AS claim

// Step 2: choose the later turns to replace, and the reply frames, such as "So ...?", for the repeated statement.
WITH nodes, dialogue, tops, addressees, groups, claim, claim.node AS predicate,
     coalesce(claim.node.repeatable, '') = 'anywhere' AS context_free,
     // True if the statement contains "you": "You can call me" is about the addressee, too.
     size([y IN addressees WHERE y.amr = claim.amr AND claim.node.sentence_top IN y.node.pronoun_sentences]) > 0
       AS to_addressee,
     // True if the statement contains "we". The other speaker does not repeat "We went to Rome", because "we"
     // may or may not include the other speaker.
     size([w IN groups WHERE w.amr = claim.amr AND claim.node.sentence_top IN w.node.pronoun_sentences]) > 0
       AS of_group,
     // The times of the statement that can be replaced: "Wednesday" in "The customer expects it on Wednesday".
     [c IN nodes WHERE c.amr = claim.amr
        // The word is below the head of the statement in the graph, so it belongs to the statement.
        AND c.position >= claim.position AND c.position <= claim.node.subtree_last
        AND size(c.options) > 0
        // In "next door", "next" does not express a time. In "next Friday", it modifies a time.
        AND (coalesce(c.node.role, '') <> 'mod'
          OR any(m IN nodes WHERE m.amr = c.amr AND m.position = c.node.parent AND m.node.temporal))] AS changes
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
    // If the statement is about the addressee, the frame "why" is not used: speakers know why they do something, so
    // "Why do I have to call you tomorrow?" is a strange question.
    WHEN to_addressee THEN ['check', 'said']
    ELSE ['check', 'why', 'surprise', 'said']
  END AS frame
UNWIND changes AS change
UNWIND change.options AS option

// Step 3: make the edits: replace the turn by a copy of the statement, then change a word of the copy.
UNWIND [
  {position: 0, op: 'say', from_amr: predicate.amr, from_position: predicate.position, voice: voice, frame: frame},
  {position: change.position, op: 'set', concept: option.concept, value: option.value,
   copy_of: predicate.amr}] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + toString(change.position)
    + coalesce(option.concept, option.value) + '>' + frame}) AS edits
