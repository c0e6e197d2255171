// negated_claim: Replaces a turn by a reply that repeats the opposite of an earlier statement.
// category: C-cont
// proof: contradicts
// source: DEAM (Ghazarian et al. 2022, section 3), contradiction, generalised to the statements of both speakers
// needs: claims
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
// ...").
//
// Departures from DEAM: the copy replaces the turn. Its pronouns are those that the speaker of this turn would use
// ("you want" for "I want"), and it is put into a reply frame.

UNWIND $dialogues AS d
UNWIND d.claims AS claim
WITH d.id AS dialogue, claim
// Find the claims that can be negated, and the claims whose negation can be dropped.
MATCH (predicate:AmrNode {amr: claim.amr, position: claim.position})
WHERE
  // "She doesn't love it" has a negation that can be dropped.
  predicate.negation_position IS NOT NULL
  // "She loves it" can get a negation. "Nobody came" is already negative, but has no "not" that can be dropped, so it
  // is not used.
  OR NOT claim.negated
// Replace a later turn by a copy of the claim. Then add a negation to this copy, or drop its negation.
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: claim.position, context_free: claim.context_free,
    frames: claim.frames, own_frames: ['claim', 'said']},
  CASE
    // "She doesn't love it." becomes "So she loves it?"
    WHEN predicate.negation_position IS NOT NULL
      THEN {position: predicate.negation_position, op: 'drop', copy_of: claim.amr}
    // "She loves letters." becomes "So she doesn't love letters?"
    ELSE {position: claim.position, op: 'add', role: 'polarity', value: '-', copy_of: claim.amr}
  END] AS edit
RETURN dialogue, collect(edit {.*, site: claim.id}) AS edits
