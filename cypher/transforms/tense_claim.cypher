// tense_claim: Replaces a turn by a reply that treats a plan as done, or something done as a plan.
// category: C-time
// source: Gupta et al. (2021), error category C-time
//
// Before: A: I want to get my car washed on Friday.  B: No problem.
// After:  A: I want to get my car washed on Friday.  B: Why have you already got your car washed?
// Graph:  (n / no :mod-of (p / problem))
//   => (c / cause-01 :ARG1 (g / get-05 :time (a / already) :ARG0 (y / you) ...) :ARG0 (a2 / amr-unknown))
//
// A statement of the other speaker is repeated in a reply frame such as "Why ...?" (see negated_claim). AMR does not
// express tense. Therefore the edit adds the node "already" to a plan, and the node want-01 above something that is
// done. The query works in three steps:
//   1. Find the statements that can be repeated, the later turns and the actions.
//   2. Choose the later turns to replace, and the reply frames of each statement.
//   3. Make the edits: replace the turn by a copy of the action, drop its time, then change the copy.

// Step 1: find the earlier statements, the later turns that can be replaced, and the actions with their times.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The edit "say" replaces it and everything below it.
  n.position = 0
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters."
  OR n.repeatable IS NOT NULL
  // The node is a person. Things neither want nor plan anything.
  OR n.concept IN ['i', 'you', 'we', 'he', 'she', 'they'] OR n.kind = 'person' OR n.entity_type = 'name person'
  // The node is an action below a modality: "buy" in "I want to buy a car".
  OR n.frame AND n.role IN ['ARG1', 'ARG2']
  // The node is a time: "on Friday", "yesterday".
  OR n.role = 'time' OR n.temporal
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker}) AS nodes
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
  // Skip negative statements: "I don't want to go" and "I haven't gone" may both be true.
  AND n.node.negated IS NULL] AS claim

// Step 2: choose the later turns to replace, and the reply frames, such as "So ...?", for the repeated statement.
WITH dialogue, nodes, tops, claim, claim.node AS predicate,
     coalesce(claim.node.repeatable, '') = 'anywhere' AS context_free,
     // True if the statement contains "you": "You can call me" is about the addressee, too.
     size([y IN addressees WHERE y.amr = claim.amr AND claim.node.sentence_top IN y.node.pronoun_sentences]) > 0
       AS to_addressee,
     // True if the statement contains "we". The other speaker does not repeat "We went to Rome", because "we"
     // may or may not include the other speaker.
     size([w IN groups WHERE w.amr = claim.amr AND claim.node.sentence_top IN w.node.pronoun_sentences]) > 0
       AS of_group,
     // The action: the predicate itself ("I bought a car"), or the action below it ("I want to buy a car").
     [c IN nodes WHERE c.amr = claim.amr AND c.node.frame
        // States have no end: "I want to know it" does not become "You've already known it".
        AND NOT 'timeless' IN c.node.classes
        AND CASE WHEN 'modal' IN claim.node.classes OR 'desiring' IN claim.node.classes
          THEN c.node.parent = claim.position AND c.node.role IN ['ARG1', 'ARG2']
          ELSE c.position = claim.position END] AS actions
WHERE size(actions) = 1 AND NOT of_group
  // The statement is about a speaker or another person.
  AND any(p IN nodes WHERE p.amr = claim.amr AND (
    p.node.concept IN ['i', 'you'] AND claim.node.sentence_top IN p.node.pronoun_sentences
    OR (p.node.concept IN ['he', 'she', 'they', 'person'] OR p.node.kind = 'person')
      AND p.node.parent IN [claim.position, head(actions).position] AND p.node.role IN ['ARG0', 'ARG1']))
WITH dialogue, nodes, tops, claim, predicate, context_free, to_addressee, head(actions) AS action
WITH dialogue, tops, claim, predicate, context_free, to_addressee, action.position AS action,
     // The nodes of the times of the action: "yesterday" in "I bought a car yesterday". The edit drops them.
     [c IN nodes WHERE c.amr = claim.amr AND c.node.role = 'time' AND c.node.parent = action.position] AS times,
     // True if the statement contains a time that does not belong to the action. The edit would keep this
     // time, so the statement is skipped.
     size([c IN nodes WHERE c.amr = claim.amr AND c.node.temporal
       AND c.position > claim.position AND c.position <= claim.node.subtree_last
       AND none(time IN nodes WHERE time.amr = c.amr AND time.node.role = 'time' AND time.node.parent = action.position
         AND time.position <= c.position AND c.position <= time.node.subtree_last)]) > 0 AS timed_elsewhere,
     CASE
       // "I want to buy a car" becomes "So you've already bought a car?"
       WHEN action.position <> predicate.position AND predicate.tense = 'present'
         AND ('desiring' IN predicate.classes OR predicate.concept = 'obligate-01') THEN 'done'
       // "I'll buy a car" becomes "So you've already bought a car?"
       WHEN action.position = predicate.position AND predicate.tense = 'future' THEN 'done'
       // "I bought a car yesterday" becomes "So you want to buy a car?"
       WHEN action.position = predicate.position AND predicate.tense = 'past' AND NOT to_addressee
         AND 'deliberate' IN predicate.classes THEN 'planned'
     END AS change
WHERE change IS NOT NULL AND size(times) <= 1 AND NOT timed_elsewhere
UNWIND [top IN tops WHERE
  // The later turn is by the other speaker: speakers would not ask what they themselves want or have done.
  top.turn > claim.turn AND top.speaker <> claim.speaker
  // "She loves it" is repeated only in the next turn. Later, it may be unclear who "she" is. "My sister loves
  // letters" is clear without its context, so it can be repeated up to four turns later.
  AND (top.turn = claim.turn + 1 OR context_free AND top.turn <= claim.turn + 4)] AS top
UNWIND CASE
    // If the statement is about the addressee, do not ask "why": speakers know why they have done something, so "Why
    // have I already bought a car?" would be strange.
    WHEN to_addressee THEN ['check', 'meaning']
    ELSE ['check', 'why', 'surprise', 'meaning']
  END AS frame

// Step 3: make the edits.
UNWIND [{position: 0, op: 'say', from_amr: predicate.amr, from_position: action, voice: 'other', frame: frame}]
  + [time IN times | {position: time.position, op: 'drop', copy_of: predicate.amr}]
  + CASE WHEN change = 'done'
      THEN [{position: action, op: 'add', role: 'time', concept: 'already', copy_of: predicate.amr}]
      ELSE [{position: -1, op: 'wrap', role: 'ARG1', concept: 'want-01', copy_of: predicate.amr}] END AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + frame}) AS edits
