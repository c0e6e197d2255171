// role_claim: Replaces a turn by a reply that exchanges two people of a statement: who calls, and who is called.
// category: C-speaker
// source: Gupta et al. (2021), error category C-speaker
//
// Before: A: I'll call you tomorrow.  B: Thank you.
// After:  A: I'll call you tomorrow.  B: So I'll call you tomorrow?
// Graph:  (t / thank-01 :ARG1 (y / you))
//   => (c / call-01 :ARG0 (i / i) :ARG1 (y / you) :ARG2 (t / tomorrow) :mode interrogative)
//
// A statement of the other speaker is repeated in a reply frame such as "So ...?" (see negated_claim), but two people
// of the statement exchange their roles. The query works in three steps:
//   1. Find the statements that can be repeated, the later turns and the people.
//   2. Choose the two people, the later turns to replace and the reply frames.
//   3. Make the edits: replace the turn by a copy of the statement, then exchange the pronouns in the copy.
//
// The two people are the two speakers ("I", "you"), a speaker and a third person ("I", "she"), or two third persons.

// Step 1: find the earlier statements, the later turns that can be replaced, and the people.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The edit "say" replaces it and everything below it.
  n.position = 0
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters."
  OR n.repeatable IS NOT NULL
  // The node is a speaker or a group.
  OR n.concept IN ['i', 'you', 'we']
  // The node is a third person: "he", "she".
  OR n.concept IN ['he', 'she']
  // The node is *only*. Statements with this word are excluded in step 2.
  OR n.concept = 'only'
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops,
     [n IN nodes WHERE n.node.concept = 'we'] AS groups
UNWIND [n IN nodes WHERE
  n.node.repeatable IS NOT NULL
  // Only statements can be contradicted. "Where is it?" and "Sit down!" claim nothing.
  AND n.node.clause_type = 'statement'
  // The node is the top of its sentence ("know" in "I know that she loves letters"), or the ARG1 of the top: in "I
  // stayed because it rained", the top is cause-01, and its ARG1 is the main clause.
  AND (n.position = n.node.sentence_top OR n.node.parent = n.node.sentence_top AND n.node.role = 'ARG1')
  // Skip long sentences, because readers do not notice a small change in them.
  AND n.node.subtree_last - n.position <= 16
  // Skip "I think" and "I know".
  AND NOT 'thinking' IN n.node.classes] AS claim

// Step 2: choose the two people, the later turns to replace and the reply frames.
WITH dialogue, nodes, tops, claim, claim.node AS predicate, groups,
     coalesce(claim.node.repeatable, '') = 'anywhere' AS context_free,
     // The nodes of the people in the statement. A node "I" or "you" may belong to several sentences of the turn.
     [s IN nodes WHERE s.amr = claim.amr AND (
       s.node.concept IN ['i', 'you'] AND claim.node.sentence_top IN s.node.pronoun_sentences
       OR s.node.concept IN ['he', 'she'] AND claim.position < s.position AND s.position <= claim.node.subtree_last)]
       AS people
WHERE none(w IN groups WHERE w.amr = claim.amr AND claim.node.sentence_top IN w.node.pronoun_sentences)
  AND size(people) = 2
  // The predicate is an action or a modality. "I'm happy for you" and "I have your key" have no exchangeable roles.
  AND ('ARG0' IN predicate.roles OR predicate.modal) AND NOT predicate.concept IN ['have-03', 'happy-01']
  // Skip "I can only offer you an exchange": the reply "So I can only offer you an exchange?" is strange.
  AND size([o IN nodes WHERE o.amr = claim.amr AND o.node.concept = 'only'
    AND claim.position < o.position AND o.position <= claim.node.subtree_last]) = 0
  // Skip feelings and opinions: "So I love you?" and "So I'm afraid it's bad news?" are strange.
  AND none(class IN ['opinion', 'liking', 'courtesy'] WHERE class IN predicate.classes)
  // Both people are arguments of a predicate. In "I saw your brother", "you" is only a possessor.
  AND all(p IN people WHERE p.node.role IN ['ARG0', 'ARG1', 'ARG2', 'ARG3', 'ARG4', 'beneficiary'])
WITH dialogue, tops, claim, predicate, context_free,
     CASE WHEN people[0].position < people[1].position THEN people[0] ELSE people[1] END AS one,
     CASE WHEN people[0].position < people[1].position THEN people[1] ELSE people[0] END AS other
WHERE one.node.concept <> other.node.concept
UNWIND [top IN tops WHERE
  // The later turn is by the other speaker: speakers would not ask what they themselves want or have done.
  top.turn > claim.turn AND top.speaker <> claim.speaker
  // "She loves it" is repeated only in the next turn. Later, it may be unclear who "she" is. "My sister loves
  // letters" is clear without its context, so it can be repeated up to four turns later.
  AND (top.turn = claim.turn + 1 OR context_free AND top.turn <= claim.turn + 4)] AS top
UNWIND CASE
    // If both people are speakers, do not use "why" and "I'm surprised": speakers know what they do, so "I'm surprised
    // I'll call you tomorrow" would be strange.
    WHEN one.node.concept IN ['i', 'you'] AND other.node.concept IN ['i', 'you'] THEN ['check', 'meaning']
    ELSE ['check', 'why', 'surprise', 'meaning']
  END AS frame

// Step 3: make the edits. In the words of the other speaker, "I'll call you" is "You'll call me". Exchange
// the two pronouns, so that the other speaker says "I'll call you".
UNWIND [
  {position: 0, op: 'say', from_amr: predicate.amr, from_position: predicate.position, voice: 'other', frame: frame},
  {position: one.position, op: 'set', copy_of: predicate.amr,
   concept: CASE other.node.concept WHEN 'i' THEN 'you' WHEN 'you' THEN 'i' ELSE other.node.concept END},
  {position: other.position, op: 'set', copy_of: predicate.amr,
   concept: CASE one.node.concept WHEN 'i' THEN 'you' WHEN 'you' THEN 'i' ELSE one.node.concept END}] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + frame}) AS edits
