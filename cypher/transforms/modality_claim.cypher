// modality_claim: Replaces a turn by a reply that repeats a statement with another modality: "have to" for "want to".
// category: C-cont
// source: Gupta et al. (2021), error category C-cont
//
// Before: A: I want to get my car washed on Friday.  B: No problem.
// After:  A: I want to get my car washed on Friday.  B: Why do you have to get your car washed on Friday?
// Graph:  (n / no :mod-of (p / problem))
//   => (c / cause-01 :ARG1 (o / obligate-01 :ARG2 (g / get-05 :ARG0 (y / you) ...) :ARG1 y) :ARG0 (a / amr-unknown))
//
// A statement of the other speaker is repeated in a reply frame such as "Why ...?" (see negated_claim), with another
// modality. The query works in three steps:
//   1. Find the statements that can be repeated, the later turns, and the actions (get-05).
//   2. Choose the later turns to replace, and the new modality and the reply frames of each statement.
//   3. Make the edits: replace the turn by a copy of the action without its modality (want-01), then put the new
//      modality (obligate-01) above the action.

// Step 1: find the earlier statements, the later turns that can be replaced, and the actions.
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
  // Skip negative statements: "I don't want to go" and "I don't have to go" may both be true.
  AND n.node.negated IS NULL] AS claim

// Step 2: choose the new modality, the later turns to replace, and the reply frames, such as "So ...?".
WITH dialogue, nodes, tops, claim, claim.node AS predicate,
     coalesce(claim.node.repeatable, '') = 'anywhere' AS context_free,
     // True if the statement contains "you": "You can call me" is about the addressee, too.
     size([y IN addressees WHERE y.amr = claim.amr AND claim.node.sentence_top IN y.node.pronoun_sentences]) > 0
       AS to_addressee,
     // True if the statement contains "we". The other speaker does not repeat "We went to Rome", because "we"
     // may or may not include the other speaker.
     size([w IN groups WHERE w.amr = claim.amr AND claim.node.sentence_top IN w.node.pronoun_sentences]) > 0
       AS of_group,
     // The action: the predicate itself ("I live in Rome"), or the action below a modality ("I want to buy a car").
     [c IN nodes WHERE c.amr = claim.amr AND c.node.frame
        AND CASE WHEN 'modal' IN claim.node.classes OR 'desiring' IN claim.node.classes
          THEN c.node.parent = claim.position AND c.node.role IN ['ARG1', 'ARG2']
          ELSE c.position = claim.position END] AS actions
WHERE size(actions) = 1 AND NOT of_group
  // The statement is about a speaker or another person.
  AND any(p IN nodes WHERE p.amr = claim.amr AND (
    p.node.concept IN ['i', 'you'] AND claim.node.sentence_top IN p.node.pronoun_sentences
    OR (p.node.concept IN ['he', 'she', 'they', 'person'] OR p.node.kind = 'person')
      AND p.node.parent IN [claim.position, head(actions).position] AND p.node.role IN ['ARG0', 'ARG1']))
WITH dialogue, tops, claim, predicate, context_free, to_addressee, head(actions).position AS action,
     // True if people do the action on purpose: "buy", but not "lose". "I want to lose
     // my keys" would be strange.
     'deliberate' IN head(actions).node.classes AS deliberate
UNWIND CASE
    // "You have to pay by card" becomes "So I can't pay by card?" With other modalities, speakers would ask about their
    // own wishes: "Why do I want to pay by card?"
    WHEN to_addressee AND predicate.concept IN ['obligate-01', 'recommend-01', 'need-01']
      THEN [{concept: 'possible-01', role: 'ARG1', polarity: '-'}]
    // "You can pay by card" becomes "So I have to pay by card?"
    WHEN predicate.concept = 'possible-01' AND predicate.tense = 'present'
      THEN [{concept: 'obligate-01', role: 'ARG2'}]
    // "I'll call you tomorrow" becomes "So you can't call me tomorrow?"
    WHEN action = predicate.position AND predicate.tense = 'future' AND NOT 'timeless' IN predicate.classes
      THEN [{concept: 'possible-01', role: 'ARG1', polarity: '-'}]
    WHEN to_addressee THEN []
    // "I want to get my car washed" becomes "Why do you have to get your car washed?"
    WHEN predicate.concept IN ['want-01', 'like-02', 'plan-01', 'hope-01']
      THEN [{concept: 'obligate-01', role: 'ARG2'}]
    // "I have to work on Sunday" becomes "Why do you want to work on Sunday?" or "Why can't you work on Sunday?"
    WHEN predicate.concept IN ['obligate-01', 'need-01']
      THEN [{concept: 'possible-01', role: 'ARG1', polarity: '-'}]
        + CASE WHEN deliberate THEN [{concept: 'want-01', role: 'ARG1'}] ELSE [] END
    // "She works in a bank" becomes "So she wants to work in a bank?"
    WHEN action = predicate.position AND predicate.tense = 'present' AND deliberate
      THEN [{concept: 'want-01', role: 'ARG1'}]
    ELSE []
  END AS modality
UNWIND [top IN tops WHERE
  // The later turn is by the other speaker: speakers would not ask what they themselves want or have done.
  top.turn > claim.turn AND top.speaker <> claim.speaker
  // "She loves it" is repeated only in the next turn. Later, it may be unclear who "she" is. "My sister loves
  // letters" is clear without its context, so it can be repeated up to four turns later.
  AND (top.turn = claim.turn + 1 OR context_free AND top.turn <= claim.turn + 4)] AS top
UNWIND CASE
    // If the statement is about the addressee, do not ask "why": "Why can't I pay by card?" would be strange.
    WHEN to_addressee THEN ['check', 'meaning']
    ELSE ['check', 'why', 'surprise', 'meaning']
  END AS frame

// Step 3: make the edits.
UNWIND [
  {position: 0, op: 'say', from_amr: predicate.amr, from_position: action, voice: 'other', frame: frame},
  {position: -1, op: 'wrap', concept: modality.concept, role: modality.role, copy_of: predicate.amr},
  {position: -1, op: 'add', role: 'polarity', value: modality.polarity, copy_of: predicate.amr}] AS edit
// Leave out the edit that adds the polarity if the new modality is affirmative.
WITH dialogue, predicate, top, frame, modality, edit
WHERE edit.op <> 'add' OR edit.value IS NOT NULL
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + modality.concept + '>' + frame})
  AS edits
