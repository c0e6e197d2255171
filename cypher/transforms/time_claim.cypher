// time_claim: Replaces a turn by a reply that repeats an earlier statement with another time.
// category: C-time
// proof: other argument
// source: Gupta et al. (2021), error category C-time
// needs: claims
//
// Before: A: The customer expects it on Wednesday.  B: I know.
// After:  A: The customer expects it on Wednesday.  B: So the customer expects it on Sunday?
// Graph:  (k / know-01 ...)
//   => (e / expect-01 ... :time (d / date-entity :weekday (s / sunday)) :mode interrogative)
//
// A statement of an earlier turn is repeated in a reply frame such as "So ...?" (see negated_claim), with another time.
//
// The times change as in time_shift: words along the ALTERNATIVE relationships of the lexicon ("Wednesday" becomes
// "Sunday"), and the numbers in dates and clock times. No time is added to statements without a time, because the
// reply would not contradict them.

UNWIND $dialogues AS d
UNWIND d.claims AS claim
WITH d.id AS dialogue, claim
WHERE
  // Skip negative claims, because a change of one word may leave them true: "She doesn't love old letters" and "She
  // doesn't love new letters" do not contradict each other.
  NOT claim.negated
  // Skip fragments such as "A snowman over there!"
  AND claim.kind IN ['statement', 'thought']
// Find the times of the claim: "Wednesday" in "The customer expects it on Wednesday".
MATCH (n:AmrNode {amr: claim.amr})
WHERE
  // The word is below the main predicate in the graph, so it belongs to the claim.
  n.position >= claim.position AND n.position <= claim.last
  AND (
    // The word says when: "Wednesday", "tomorrow".
    n.temporal
    // The number is part of a date or a clock time: "at 9".
    OR n.time_number IS NOT NULL)
  // "Now" and "soon" would become "yesterday" in the middle of the sentence: "Our prices were yesterday higher".
  AND (n.concept IS NULL OR NOT n.concept IN ['now', 'soon'])
MATCH (predicate:AmrNode {amr: claim.amr, position: claim.position})
OPTIONAL MATCH (n)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'time'}]->(x:Term)
OPTIONAL MATCH (modified:AmrNode {amr: n.amr, position: n.parent})
WITH dialogue, claim, n, n.time_number AS number,
     // Nobody wants or must do something yesterday: "Why do you need it delivered yesterday?"
     CASE WHEN x.text <> 'yesterday' OR NOT ('modal' IN predicate.classes OR 'desiring' IN predicate.classes)
       THEN x.text END AS text, modified
WHERE
  // In "next door", "next" does not express a time. In "next Friday", it modifies a time.
  coalesce(n.role, '') <> 'mod' OR modified.temporal
WITH dialogue, claim, n,
     // Do not replace fixed words: in "two days before the party", no other word can take the place of "before". Keep
     // units of time: in "next week", "day" instead of "week" would not be English.
     CASE WHEN n.temporal AND n.fixed_time IS NULL AND NOT 'time-unit' IN n.classes THEN text END AS concept,
     CASE
       // Add five months, modulo 12: December becomes May.
       WHEN n.role = 'month' THEN toString((number + 4) % 12 + 1)
       // Add ten days, modulo 28, so that the day exists in every month: the 25th becomes the 7th.
       WHEN n.role = 'day' THEN toString((number + 9) % 28 + 1)
       // Subtract 20 years: 1990 becomes 1970.
       WHEN n.role = 'year' AND number > 20 THEN toString(number - 20)
       // Add five hours on a twelve-hour clock: "9 o'clock" becomes "2 o'clock". Change only full hours, because other
       // times may be written in words that do not fit a new number ("half past seven").
       WHEN n.role = 'time' AND number >= 0 AND n.value ENDS WITH ':00"'
         THEN '"' + toString((number + 4) % 12 + 1) + right(replace(n.value, '"', ''), 3) + '"'
     END AS value
WHERE concept IS NOT NULL OR value IS NOT NULL
// Replace the turn by a copy of the claim, then replace the time in the copy.
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: claim.position, context_free: claim.context_free,
    frames: [frame IN claim.frames WHERE frame <> 'meaning'], own_frames: ['claim', 'said']},
  {position: n.position, op: 'set', concept: concept, value: value, copy_of: claim.amr}] AS edit
RETURN dialogue, collect(edit {.*, site: claim.id + '>' + toString(n.position) + coalesce(concept, value)}) AS edits
