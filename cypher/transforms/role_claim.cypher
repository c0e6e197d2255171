// role_claim: Replaces a turn by a reply that exchanges two people of a statement: who calls, and who is called.
// category: C-speaker
// source: Gupta et al. (2021), error category C-speaker
// needs: claims
//
// Before: A: I'll call you tomorrow.  B: Thank you.
// After:  A: I'll call you tomorrow.  B: So I'll call you tomorrow?
// Graph:  (t / thank-01 :ARG1 (y / you))
//   => (c / call-01 :ARG0 (i / i) :ARG1 (y / you) :ARG2 (t / tomorrow) :mode interrogative)
//
// A statement of the other speaker is repeated in a reply frame such as "So ...?" (see negated_claim), but two people
// of the statement exchange their roles.
//
// The two people are the two speakers ("I", "you"), a speaker and a third person ("I", "she"), or two third persons.

UNWIND $dialogues AS d
UNWIND d.claims AS claim
WITH d.id AS dialogue, claim
WHERE claim.kind = 'statement'
  // The other speaker does not repeat "We went to Rome", because "we" may or may not include the other speaker.
  AND NOT claim.about_group
MATCH (n:AmrNode {amr: claim.amr})
WITH dialogue, claim, collect(n) AS nodes
WITH dialogue, claim, nodes, head([n IN nodes WHERE n.position = claim.position]) AS predicate
WHERE
  // The main predicate is the top of its sentence ("know" in "I know that she loves letters"), or the ARG1 of the top:
  // in "I stayed because it rained", the top is cause-01, and its ARG1 is the main clause.
  (claim.position = claim.sentence OR predicate.parent = claim.sentence AND predicate.role = 'ARG1')
  // The predicate is an action or a modality. "I'm happy for you" and "I have your key" have no exchangeable roles.
  AND ('ARG0' IN predicate.roles OR predicate.modal) AND NOT predicate.concept IN ['have-03', 'happy-01']
  // Skip feelings and opinions: "So I love you?" and "So I'm afraid it's bad news?" are strange.
  AND none(class IN ['thinking', 'opinion', 'liking', 'courtesy'] WHERE class IN predicate.classes)
  // Skip "I can only offer you an exchange": the reply "So I can only offer you an exchange?" is strange.
  AND size([n IN nodes WHERE n.concept = 'only' AND claim.position < n.position AND n.position <= claim.last]) = 0
WITH dialogue, claim,
     // The nodes of the people in the claim. A node "I" or "you" may belong to several sentences of the turn.
     [n IN nodes WHERE
        n.concept IN ['i', 'you'] AND claim.sentence IN n.pronoun_sentences
        OR n.concept IN ['he', 'she'] AND claim.position < n.position AND n.position <= claim.last] AS people
WHERE size(people) = 2
  // Both people are arguments of a predicate. In "I saw your brother", "you" is only a possessor.
  AND all(n IN people WHERE n.role IN ['ARG0', 'ARG1', 'ARG2', 'ARG3', 'ARG4', 'beneficiary'])
WITH dialogue, claim,
     CASE WHEN people[0].position < people[1].position THEN people[0] ELSE people[1] END AS one,
     CASE WHEN people[0].position < people[1].position THEN people[1] ELSE people[0] END AS other
WHERE one.concept <> other.concept
// Replace the turn by a copy of the claim, then exchange the two pronouns in the copy. In the words of the other
// speaker, "I'll call you" is "You'll call me". With the pronouns exchanged, the other speaker says "I'll call you".
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: claim.position, context_free: claim.context_free,
    frames: CASE
      // If both people are speakers, do not use "why" and "I'm surprised": speakers know what they do, so "I'm
      // surprised I'll call you tomorrow" would be strange. "What do you mean, I'll call you tomorrow?" would quote the
      // other speaker.
      WHEN one.concept IN ['i', 'you'] AND other.concept IN ['i', 'you'] THEN ['check']
      ELSE ['check', 'why', 'surprise', 'meaning'] END},
  {position: one.position, op: 'set', copy_of: claim.amr,
   concept: CASE other.concept WHEN 'i' THEN 'you' WHEN 'you' THEN 'i' ELSE other.concept END},
  {position: other.position, op: 'set', copy_of: claim.amr,
   concept: CASE one.concept WHEN 'i' THEN 'you' WHEN 'you' THEN 'i' ELSE one.concept END}] AS edit
RETURN dialogue, collect(edit {.*, site: claim.id}) AS edits
