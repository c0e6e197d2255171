// quantifier_claim: Replaces a turn by a reply that repeats a statement with "none" for "all" or "never" for "always".
// category: C-cont
// source: Gupta et al. (2021), error category C-cont
// needs: claims
//
// Before: A: I always drink tea in the morning.  B: Me too.
// After:  A: I always drink tea in the morning.  B: Why do you never drink tea in the morning?
// Graph:  (t / too ...)
//   => (c / cause-01 :ARG1 (d / drink-01 :polarity - :ARG0 (y / you) :ARG1 (t / tea) :time (e / ever) ...) ...)
//
// A statement of an earlier turn is repeated in a reply frame such as "Why ...?" (see negated_claim), with another
// quantity or frequency.
//
// The lexicon lists the quantities (relationship ALTERNATIVE, scale quantifier). "Never" is "ever" with a negation.

UNWIND $dialogues AS d
UNWIND d.claims AS claim
WITH d.id AS dialogue, claim
WHERE claim.kind = 'statement'
MATCH (n:AmrNode {amr: claim.amr})
WITH dialogue, claim, collect(n) AS nodes
WITH dialogue, claim, nodes, head([n IN nodes WHERE n.position = claim.position]) AS predicate,
     // Words that only occur in negative sentences: "anyone" in "It never hurt anyone".
     [n IN nodes WHERE n.concept IN ['anyone', 'anybody', 'anything', 'any', 'again']] AS negative_words
// Skip claims about what somebody thinks or knows, such as "I always know what to say".
WHERE NOT 'thinking' IN predicate.classes
// Find the quantities and frequencies of the claim that can be replaced, such as "always".
UNWIND [n IN nodes WHERE
  // The word belongs to the claim, and not to another clause of the turn.
  n.position >= claim.position AND n.position <= claim.last] AS n
MATCH (n)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'quantifier'}]->(x:Term)
WITH dialogue, claim, predicate, negative_words, n, collect(x.text) AS options
WHERE
  // In the graph of "He never eats meat", "never" is the node "ever" and a negation. The edits replace "ever" by
  // "always" and drop the negation.
  n.concept = 'ever' AND n.parent = claim.position AND predicate.negation_position IS NOT NULL
    // Skip "It never hurt anyone", because "It always hurt anyone" is not English.
    AND size(negative_words) = 0
  // Replace words such as "always" only in affirmative claims. "Always" becomes "ever", and the main predicate is
  // negated ("never"). So "always" must belong to the main predicate.
  OR n.concept <> 'ever' AND NOT claim.negated
    AND (options <> ['ever'] OR n.parent = claim.position)
  // Replace "nobody" and "nothing" in any claim ("Nobody came"): they are negative without a "not".
  OR n.concept IN ['nobody', 'nothing']
UNWIND options AS option
// Replace a later turn by a copy of the claim ("I always drink tea"). Then replace the word in this copy ("I never
// drink tea").
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: claim.position, context_free: claim.context_free,
    frames: [frame IN claim.frames WHERE frame <> 'said'], own_frames: ['claim', 'said']},
  {position: n.position, op: 'set', concept: option, copy_of: claim.amr}]
  // "always" becomes "never", that is, "ever" with a negation, and "never" becomes "always".
  + CASE WHEN option = 'ever'
      THEN [{position: claim.position, op: 'add', role: 'polarity', value: '-', copy_of: claim.amr}] ELSE [] END
  + CASE WHEN n.concept = 'ever'
      THEN [{position: predicate.negation_position, op: 'drop', copy_of: claim.amr}] ELSE [] END
  // "many" becomes "only a few".
  + CASE WHEN option = 'few'
      THEN [{position: n.position, op: 'add', role: 'mod', concept: 'only', copy_of: claim.amr}] ELSE [] END
  AS edit
RETURN dialogue, collect(edit {.*, site: claim.id + '>' + toString(n.position) + option}) AS edits
