// asked_claim: Replaces a turn by a reply that asks for something that an earlier statement has said.
// category: C-follow
// proof: asks what was said
// source: Gupta et al. (2021), error category C-follow
// needs: claims
//
// Before: A: I want to get my car washed on Friday.  B: No problem.
// After:  A: I want to get my car washed on Friday.  B: When do you want to get your car washed?
// Graph:  (n / no :mod-of (p / problem))
//   => (w / want-01 :ARG0 (y / you) :ARG1 (g / get-05 ... :time (a / amr-unknown)))
//
// A statement of the other speaker is turned into a question for one of its objects, times or places. The statement
// already answers this question, so the speaker of the reply seems not to have listened.

UNWIND $dialogues AS d
UNWIND d.claims AS claim
WITH d.id AS dialogue, claim
WHERE claim.kind = 'statement'
  // Skip negative claims. "She doesn't love old letters" does not say what she loves, so "What does she love?" is a
  // correct reply.
  AND NOT claim.negated
  // Skip claims with "we" or "you", because the addressee may know the answer anyway: "We went to Rome", "You have two
  // keys".
  AND NOT claim.about_group
  AND NOT claim.about_addressee
MATCH (n:AmrNode {amr: claim.amr})
WITH dialogue, claim, collect(n) AS nodes
WITH dialogue, claim, nodes, head([n IN nodes WHERE n.position = claim.position]) AS predicate
// Find the phrases of the claim for which the reply can ask: "When ...?" for "on Friday".
UNWIND [n IN nodes WHERE
  // The phrase belongs to the claim, and not to another clause of the turn.
  n.position > claim.position AND n.position <= claim.last
  // The phrase is an argument of the main predicate or of a verb below it: "I want to learn the piano." A phrase that
  // is deeper in the sentence may be a part of another phrase.
  AND (n.parent = claim.position
    OR any(m IN nodes WHERE m.position = n.parent AND m.parent = claim.position
      AND m.frame AND m.role IN ['ARG1', 'ARG2']))
  // The phrase is short and ends the sentence. In "I bought a car from a friend", "from a friend" might belong to "a
  // car", so "car" could not be replaced by "what".
  AND n.subtree_last = claim.last
  AND n.subtree_last - n.position <= 4
  // The phrase is not a clause, such as "when he began".
  AND n.frame IS NULL
  AND (
    // The phrase is a time, but not an adverb such as "often", which does not answer "When?".
    n.role = 'time' AND (n.fixed_time IS NULL AND n.temporal OR n.concept = 'date-entity')
      AND NOT 'adverb-of-time' IN n.classes
    // The phrase is a place of a known kind. "Here" has no known kind and does not answer "Where?".
    OR n.role IN ['location', 'destination'] AND n.kind <> 'other'
    // The phrase is an object with content, unlike "it" and "something". The predicate must have an agent (ARG0):
    // without an agent, the ARG1 is the subject, such as "the lake" in "The lake froze".
    OR n.role IN ['ARG1', 'ARG2', 'ARG4'] AND n.kind IS NOT NULL AND n.topical AND 'ARG0' IN predicate.roles)] AS phrase
// Replace a later turn by a copy of the claim ("I want to get my car washed on Friday"). In this copy, replace the
// phrase ("on Friday") by amr-unknown ("When ...?").
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: claim.position, context_free: claim.context_free,
    frames: ['ask']},
  {position: phrase.position, op: 'drop', copy_of: claim.amr},
  {position: phrase.parent, op: 'add', role: phrase.role, concept: 'amr-unknown', copy_of: claim.amr}] AS edit
RETURN dialogue, collect(edit {.*, site: claim.id + '>' + toString(phrase.position)}) AS edits
