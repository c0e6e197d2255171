// oppose: Replaces a concept by its antonym; a verb becomes a frame that exists and has the roles in use.
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
// One hop over ANTONYM finds the antonyms of a word. These edges are computed from the OPPOSITE edges of ConceptNet
// when the data are loaded: each one says whether the antonym can replace a noun, a modifier or a frame.
//
// Departures from DEAM:
// - A frame is replaced only by a frame of PropBank that has all numbered roles in use, so that the new graph is valid.
// - Some antonyms hold for some kinds of things only: the opposite of "old" is "young" of people and "new" of things.
// - Questions, names, degree words ("extremely") and concepts that are negated already are skipped.
// - The concept is replaced in place, not in a copy. The turns after it show the error, so that all sites are for
//   negatives of whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// The word is asserted, and can be opposed: not "Did she love it?", not a name, not a degree.
WHERE n.asserts IS NOT NULL
MATCH (n)-[:LEXEME]->(w:Term)
// Few words have antonyms: test the property before following relationships.
WHERE w.antonyms
MATCH (w)-[a:ANTONYM]->(x)
WHERE (
    // The antonym was judged for this very use: for a noun, a modifier, or this frame ("love-01" -> "hate-01").
    a.used_as = n.asserts
    // Or it is an antonym of the verb in a sense for which the edge knows no frame. Then the new frame must have an
    // agent (ARG0) and a patient (ARG1) where the old one has them: "the price rises" has no agent, so it does not
    // become "lower", which needs one.
    OR a.used_as = 'frame'
      AND n.frame
      AND NOT n.asserts IN a.known
      AND ('ARG0' IN n.roles) = ('ARG0' IN x.roles)
      AND ('ARG1' IN n.roles) = ('ARG1' IN x.roles))
  // The new frame has every numbered role that the node uses: "sell it to me for two euros" needs ARG2 and ARG3.
  AND all(role IN n.roles WHERE role IN x.roles)
  // "an old man" becomes "a young man", "an old car" becomes "a new car".
  AND (a.said_of IS NULL
    OR n.said_of IS NOT NULL AND all(kind IN n.said_of WHERE kind IN a.said_of))
// Of several senses of one antonym verb (sell-01, sell-02) the lowest is taken.
WITH d.id AS dialogue, n, coalesce(x.lemma, x.text) AS word, min(coalesce(x.id, x.text)) AS concept
RETURN dialogue, collect({amr: n.amr, k: n.k, op: 'set', concept: concept,
    // The engine prefers words that the dialogue has said before: their opposite clashes with more turns.
    score: size(coalesce(n.echo, [])),
    // Each antonym of the node is a site of its own.
    site: n.amr + '.' + toString(n.k) + '>' + concept}) AS edits
