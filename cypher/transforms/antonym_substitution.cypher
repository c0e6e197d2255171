// antonym_substitution: Replaces a concept by an antonym. A verb is replaced by a PropBank frame that has every numbered role that the verb's node uses.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022, section 3), contradiction
// needs: opposites, frames
// target: dialogue
//
// Before: A: You should write her a letter.  B: That's a good idea. She loves letters.
// After:  A: You should write her a letter.  B: That's a good idea. She hates letters.
// Graph:  (l / love-01 :ARG0 (s / she) :ARG1 (l2 / letter))
//   => (h / hate-01 :ARG0 (s / she) :ARG1 (l2 / letter))
//
// ANTONYM relationships point from a term to its antonyms, which are terms or frames. They are computed from the
// OPPOSITE relationships of ConceptNet when the data are loaded. The property used_as of ANTONYM states the use in
// which the antonym can replace the word: as a noun, as a modifier or as a frame.
//
// Departures from DEAM:
// - A frame is replaced only by a PropBank frame that has all numbered roles of the node, so that the new graph is
//   valid.
// - Some words are antonyms only for some kinds of things: the antonym of "old" is "young" for people and "new" for
//   things.
// - Questions, names, degree words ("extremely") and concepts that are already negated are skipped.
// - DEAM replaces the concept in a copy of the utterance, which is added to a later turn. This transform replaces the
//   concept in the utterance itself, so the later turns contradict the edited statement. A response has no later turns,
//   so the target is the whole dialogue.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// The property opposable_as states how the word is used: noun, modifier, or the id of its frame, such as love-01.
// Words in questions ("Did she love it?"), names and degree words ("extremely") do not have this property.
WHERE n.opposable_as IS NOT NULL
MATCH (n)-[:LEXEME]->(w:Term)
// Few words have antonyms. Testing the property antonyms first is faster than following the relationships of every
// word.
WHERE w.antonyms
MATCH (w)-[a:ANTONYM]->(x)
WHERE (
    // The antonym can replace the word as it is used in this sentence: "love" as the frame love-01 becomes hate-01.
    a.used_as = n.opposable_as
    // The antonym can replace every frame of the word that is not in PropBank. (The property "known" lists
    // the frames of the word that are in PropBank.)
    OR a.used_as = 'frame'
      AND n.frame
      AND NOT n.opposable_as IN a.known
      // The new frame must have an agent exactly if the old frame has one: "the price rises" has no agent, so "rise"
      // does not become "lower", which needs an agent.
      AND ('ARG0' IN n.roles) = ('ARG0' IN x.roles)
      // The new frame must have a patient (ARG1) exactly if the old frame has one: "he agreed" has no patient, so a verb
      // that needs an object does not fit.
      AND ('ARG1' IN n.roles) = ('ARG1' IN x.roles))
  // The new frame must have every numbered role that the node has: "sell it to me for two euros" needs ARG2 and ARG3.
  AND all(role IN n.roles WHERE role IN x.roles)
  AND (
    // The words are antonyms, regardless of what the word describes: "cheap" and "expensive".
    a.modified_kinds IS NULL
    // The words are antonyms for everything that the word describes in this sentence: "an old man" becomes "a young
    // man", but "an old car" becomes "a new car".
    OR n.modified_kinds IS NOT NULL
      AND all(kind IN n.modified_kinds WHERE kind IN a.modified_kinds))
// Several senses of an antonym can fit (sell-01, sell-02). Take the sense with the lowest number.
WITH d.id AS dialogue, n, coalesce(x.lemma, x.text) AS word, min(coalesce(x.id, x.text)) AS concept
RETURN dialogue, collect({
  amr: n.amr, position: n.position, op: 'set', concept: concept,
  // If the word occurred earlier in the dialogue, its antonym also contradicts the earlier turns. The score makes the
  // engine prefer such words.
  score: size(coalesce(n.repeats, [])),
  // Each antonym of a node is a separate site, that is, an alternative edit.
  site: n.amr + '.' + toString(n.position) + '>' + concept}) AS edits
