// quantity_claim: Replaces a turn by a reply that repeats an earlier statement with another number.
// category: C-ent
// proof: other argument
// source: Gupta et al. (2021), error category C-ent
// needs: claims
//
// Before: A: It costs sixty dollars.  B: That's too much.
// After:  A: It costs sixty dollars.  B: Why does it cost one hundred and twenty dollars?
// Graph:  (m / much ...)
//   => (c / cause-01 :ARG1 (c2 / cost-01 ... :ARG2 (m / monetary-quantity :quant 120 ...)) :ARG0 (a / amr-unknown))
//
// A statement of an earlier turn is repeated in a reply frame such as "Why ...?" (see negated_claim), with another
// number.
//
// Amounts of at least two are doubled: "two kilos" becomes "four kilos". One is not changed, because the form of its
// noun would have to change, too.

UNWIND $dialogues AS d
UNWIND d.claims AS claim
WITH d.id AS dialogue, claim
WHERE
  // Skip negative claims, because a change of one word may leave them true: "She doesn't love old letters" and "She
  // doesn't love new letters" do not contradict each other.
  NOT claim.negated
  // Skip fragments such as "A snowman over there!"
  AND claim.kind IN ['statement', 'thought']
// Find the numbers of the claim that can be doubled: "sixty" in "It costs sixty dollars".
MATCH (n:AmrNode {amr: claim.amr, role: 'quant'})
WHERE
  // The number belongs to the claim, and not to another clause of the turn.
  n.position >= claim.position AND n.position <= claim.last
  AND n.value IS NOT NULL
WITH dialogue, claim, n, toInteger(n.value) AS number
WHERE
  // "One" is skipped, because it often does not express an amount: "one of my friends".
  number > 1 AND number < 1000000
  // Change only whole numbers: "12.5" is skipped, because toInteger gives 12.
  AND toString(number) = n.value
// Replace a later turn by a copy of the claim ("It costs sixty dollars"). Then double the number in this copy.
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: claim.position, context_free: claim.context_free,
    frames: [frame IN claim.frames WHERE frame <> 'meaning'], own_frames: ['claim', 'said']},
  {position: n.position, op: 'set', value: toString(number * 2), copy_of: claim.amr}] AS edit
RETURN dialogue, collect(edit {.*, site: claim.id + '>' + toString(n.position) + toString(number * 2)}) AS edits
