// antonym_claim: Replaces a turn by a reply that repeats an earlier statement with an antonym.
// category: C-cont
// proof: contradicts or other argument
// source: DEAM (Ghazarian et al. 2022, section 3), contradiction by antonyms, generalised to both speakers
// needs: claims, opposites, frames
//
// Before: A: That's a good idea. She loves letters.  B: Send her a photo of your children, too.
// After:  A: That's a good idea. She loves letters.  B: Why does she hate letters?
// Graph:  (s / send-01 :mode imperative ...)
//   => (c / cause-01 :ARG1 (h / hate-01 :ARG0 (s / she) :ARG1 (l / letter)) :ARG0 (a / amr-unknown))
//
// A statement of an earlier turn is repeated in a reply frame such as "Why ...?" (see negated_claim), with an antonym.
//
// An antonym must meet the same conditions as in antonym_substitution. It must fit the use of the word in this sentence
// (noun, modifier or frame) and the kind of thing that the word describes. A frame must have all numbered roles of the
// node.

UNWIND $dialogues AS d
UNWIND d.claims AS claim
WITH d.id AS dialogue, claim
WHERE
  // Skip negative claims, because a change of one word may leave them true: "She doesn't love old letters" and "She
  // doesn't love new letters" do not contradict each other.
  NOT claim.negated
  // Skip fragments such as "A snowman over there!"
  AND claim.kind IN ['statement', 'thought']
// Find the words of the claim that have an antonym: "loves" in "She loves letters".
MATCH (n:AmrNode {amr: claim.amr})
WHERE
  // The word belongs to the claim, and not to another clause of the turn.
  n.position >= claim.position AND n.position <= claim.last
  // The word is a verb or modifier. The transform thing_claim replaces nouns, because the opposites of nouns are often
  // other things (brother and sister, a tree and a forest).
  AND n.opposable_as <> 'noun'
  // Words for times are changed by time_claim instead, because their antonyms seldom fit: nobody says "I've been
  // sneezing a lot early".
  AND n.temporal IS NULL
MATCH (n)-[:LEXEME]->(:Term)-[a:ANTONYM]->(x)
WHERE (
    // The antonym can replace the word as it is used in this sentence: "old" as a modifier, or "love" as the frame
    // love-01.
    a.used_as = n.opposable_as
    // The antonym can replace every frame of the word that is not in PropBank. (The property "known" lists
    // the frames of the word that are in PropBank.) The new frame must have an agent (ARG0) exactly if the
    // old frame has one. The same applies to the patient (ARG1).
    OR a.used_as = 'frame'
      AND n.frame
      AND NOT n.opposable_as IN a.known
      AND ('ARG0' IN n.roles) = ('ARG0' IN x.roles)
      AND ('ARG1' IN n.roles) = ('ARG1' IN x.roles))
  // Exclude verbs with one argument, because their antonyms seldom fit: "I'm entering tomorrow". Allow adjectives ("the
  // open door") and words that are not frames.
  AND (n.frame IS NULL OR size(n.roles) > 1 OR n.role ENDS WITH '-of')
  // The new frame must have every numbered role that the node has: "sell it to me for two euros" needs ARG2 and ARG3.
  AND all(role IN n.roles WHERE role IN x.roles)
  // "An old man" becomes "a young man", but "an old car" becomes "a new car".
  AND (a.modified_kinds IS NULL
    OR n.modified_kinds IS NOT NULL AND all(kind IN n.modified_kinds WHERE kind IN a.modified_kinds))
// Several senses of an antonym can fit (sell-01, sell-02). Take the sense with the lowest number.
WITH dialogue, claim, n, coalesce(x.lemma, x.text) AS word, min(coalesce(x.id, x.text)) AS concept
// Replace a later turn by a copy of the claim ("She loves letters"). Then replace the word in this copy ("She hates
// letters").
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: claim.position, context_free: claim.context_free,
    frames: [frame IN claim.frames WHERE frame <> 'meaning'], own_frames: ['claim', 'said']},
  {position: n.position, op: 'set', concept: concept, copy_of: claim.amr}] AS edit
RETURN dialogue, collect(edit {.*, site: claim.id + '>' + toString(n.position) + concept}) AS edits
