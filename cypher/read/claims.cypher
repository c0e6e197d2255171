// Return the claims of dialogues: the clauses that a later reply can repeat, such as "She loves letters".
// Transforms with the header "needs: claims" get them as `claims` of each dialogue in $dialogues.
// $dialogues: as for transforms, a list of {id, turns: [{turn, speaker, amr}, ...]}
// Columns: dialogue, claims. Each claim is a map:
//          id: name of the claim, made from the graph and the position of its main predicate
//          amr, turn: the graph and the turn
//          position, last: the main predicate, and the last node below it
//          sentence: the top of the sentence of the claim
//          kind: "statement"; "thought" for "I think that she loves letters"; "fragment" for "There is a snowman over
//            there", whose graph has a noun as its top
//          negated: whether the claim has a negation
//          context_free: whether the claim is clear without its context: "My sister loves letters", but not "She does"
//          about_addressee: whether the claim contains "you"
//          about_group: whether the claim contains "we"
//          frames: the reply frames in which the other speaker can repeat the claim
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters."
  n.repeatable IS NOT NULL
  // The node is a verb such as "think" or "hear": "I think that she loves letters."
  OR 'thinking' IN n.classes
  // The node is "you" or "we". A claim with one of these pronouns can be repeated in some reply frames only.
  OR n.concept IN ['you', 'we']
WITH d.id AS dialogue, t.amr AS amr, t.turn AS turn, collect(n) AS nodes
WITH dialogue, amr, turn, nodes,
     [n IN nodes WHERE n.concept = 'you'] AS addressees,
     [n IN nodes WHERE n.concept = 'we'] AS groups
UNWIND [n IN nodes WHERE
  (n.repeatable IS NOT NULL
    // A thought is repeated only if it has content: "I think that she loves letters", but not "I agree".
    OR 'thinking' IN n.classes AND n.main_clause AND n.subtree_last - n.position > 2)
  // Only statements can be contradicted. "Where is it?" and "Sit down!" claim nothing.
  AND (n.clause_type = 'statement' OR n.clause_type = 'fragment' AND n.repeatable IS NOT NULL)
  // The node is a main predicate ("know" in "I know that she loves letters"; "tired" and "work" in "I'm tired, but she
  // works"), or the ARG1 of the top: in "I stayed because it rained", the top is cause-01, and its ARG1 is the main
  // clause.
  AND (n.main_clause OR n.parent = n.sentence_top AND n.role = 'ARG1')
  // Skip long sentences, because readers do not notice a small change in them.
  AND n.subtree_last - n.position <= 16] AS n
WITH dialogue, amr, turn, n,
     size([y IN addressees WHERE n.sentence_top IN y.pronoun_sentences]) > 0 AS about_addressee,
     size([w IN groups WHERE n.sentence_top IN w.pronoun_sentences]) > 0 AS about_group
RETURN dialogue, collect({
  id: amr + '.' + toString(n.position),
  amr: amr, turn: turn, position: n.position, last: n.subtree_last, sentence: n.sentence_top,
  kind: CASE WHEN n.repeatable IS NULL THEN 'thought' ELSE n.clause_type END,
  negated: n.negated IS NOT NULL,
  context_free: coalesce(n.repeatable, '') = 'anywhere',
  about_addressee: about_addressee,
  about_group: about_group,
  frames: CASE
    // The other speaker does not repeat "We went to Rome", because "we" may or may not include the other speaker.
    WHEN about_group THEN []
    // Speakers know why they do something. After "You can call me", the replies "Why can't I call you?" and "I'm
    // surprised I can't call you" would be strange.
    WHEN about_addressee THEN ['check', 'meaning', 'said']
    ELSE ['check', 'why', 'surprise', 'meaning', 'said']
  END}) AS claims
