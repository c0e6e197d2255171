// negated_claim: Replaces a turn by a reply that repeats the opposite of an earlier statement.
// category: C-cont
// proof: contradicts
// source: DEAM (Ghazarian et al. 2022, section 3), contradiction, generalised to the statements of both speakers
//
// Before: A: I want to get my car washed on Friday.  B: No problem.
// After:  A: I want to get my car washed on Friday.  B: Why don't you want to get your car washed on Friday?
// Graph:  (n / no :mod-of (p / problem))
//   => (c / cause-01 :ARG1 (w / want-01 :polarity - :ARG0 (y / you) ...) :ARG0 (a / amr-unknown))
//
// A statement of an earlier turn is repeated in a reply frame, such as "Why ...?", and negated at its main predicate.
// If the statement was negative, the negation is dropped. The frames for a statement of the other speaker are check
// ("So ...?"), why ("Why ...?"), meaning ("What do you mean, ...?"), surprise ("I'm surprised ...") and said ("But you
// said ..."). The frames for a statement of the speaker of the reply are claim (no opening words) and said ("As I said,
// ..."). The query works in three steps:
//   1. Find the statements that can be repeated, and the later turns.
//   2. Choose the later turns to replace, and the reply frames of each statement.
//   3. Make the edits: replace the turn by a copy of the statement ("say"), then change the copy.
//
// Departures from DEAM: the copy replaces the turn. Its pronouns are those that the speaker of this turn would use
// ("you want" for "I want"), and it is put into a reply frame.

// Step 1: find the earlier statements, their pronouns *we* and *you*, and the later turns that can be replaced.
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
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops,
     [n IN nodes WHERE n.node.concept = 'you'] AS addressees,
     [n IN nodes WHERE n.node.concept = 'we'] AS groups
UNWIND [n IN nodes WHERE
  (n.node.repeatable IS NOT NULL
    // An opinion is repeated only if it has content: "I think that she loves letters", but not "I agree".
    OR 'thinking' IN n.node.classes AND n.node.main_clause AND n.node.subtree_last - n.position > 2)
  // Only statements can be contradicted. "Where is it?" and "Sit down!" claim nothing. The graph of "There is a snowman
  // over there" has a noun as its top, like that of the fragment "A snowman over there!", which the decoder refuses.
  AND (n.node.clause_type = 'statement' OR n.node.clause_type = 'fragment' AND n.node.repeatable IS NOT NULL)
  // The node is a main predicate ("know" in "I know that she loves letters"; "tired" and "work" in "I'm tired, but she
  // works"), or the ARG1 of the top: in "I stayed because it rained", the top is cause-01, and its ARG1 is the main
  // clause.
  AND (n.node.main_clause OR n.node.parent = n.node.sentence_top AND n.node.role = 'ARG1')
  // Use only short sentences, because a reader does not notice the negation in a long sentence.
  AND n.node.subtree_last - n.position <= 16
  AND (
    // "She doesn't love it" has a negation that can be dropped.
    n.node.negation_position IS NOT NULL
    // "She loves it" can get a negation. "Nobody came" is already negative, but has no "not" that can be dropped, so it
    // is not used.
    OR n.node.negated IS NULL)] AS claim

// Step 2: choose the later turns to replace, and the reply frames, such as "So ...?", for the repeated statement.
WITH dialogue, tops, claim, claim.node AS predicate, coalesce(claim.node.repeatable, '') = 'anywhere' AS context_free,
     // True if the statement contains "you": "You can call me" is about the addressee, too.
     size([y IN addressees WHERE y.amr = claim.amr AND claim.node.sentence_top IN y.node.pronoun_sentences]) > 0
       AS to_addressee,
     // True if the statement contains "we". The other speaker does not repeat "We went to Rome", because "we"
     // may or may not include the other speaker.
     size([w IN groups WHERE w.amr = claim.amr AND claim.node.sentence_top IN w.node.pronoun_sentences]) > 0
       AS of_group
UNWIND [top IN tops WHERE
  top.turn > claim.turn AND (
    // "She loves it" is repeated only in the next turn, by the other speaker. Later, it may be unclear who
    // "she" is.
    top.turn = claim.turn + 1 AND top.speaker <> claim.speaker
    // "My sister loves letters" is clear without its context, so either speaker can repeat it up to four turns later.
    OR context_free AND top.turn <= claim.turn + 4)] AS top
WITH dialogue, predicate, top, to_addressee, of_group,
     CASE WHEN top.speaker = claim.speaker THEN 'own' ELSE 'other' END AS voice
WHERE NOT (voice = 'other' AND of_group)
UNWIND CASE
    WHEN voice = 'own' THEN ['claim', 'said']
    // If the statement is about the addressee, do not use "why" and "I'm surprised": speakers know why they do
    // something, so "Why don't I have to call you?" and "I'm surprised I don't have to call you" would be strange.
    WHEN to_addressee THEN ['check', 'meaning', 'said']
    ELSE ['check', 'why', 'surprise', 'meaning', 'said']
  END AS frame

// Step 3: make the edits.
WITH dialogue, predicate, top, voice, frame,
     top.amr + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + frame AS site,
     CASE
       // "She doesn't love it." becomes "So she loves it?"
       WHEN predicate.negation_position IS NOT NULL
         THEN {position: predicate.negation_position, op: 'drop', copy_of: predicate.amr}
       // "She loves letters." becomes "So she doesn't love letters?"
       ELSE {position: predicate.position, op: 'add', role: 'polarity', value: '-', copy_of: predicate.amr}
     END AS change
UNWIND [{position: 0, op: 'say', from_amr: predicate.amr, from_position: predicate.position, voice: voice,
         frame: frame}, change] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr, site: site}) AS edits
