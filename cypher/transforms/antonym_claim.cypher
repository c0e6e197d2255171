// antonym_claim: Replaces a turn by a reply that repeats an earlier statement with an antonym.
// category: C-cont
// proof: contradicts or other argument
// source: DEAM (Ghazarian et al. 2022, section 3), contradiction by antonyms, generalised to both speakers
// needs: opposites, frames
//
// Before: A: That's a good idea. She loves letters.  B: Send her a photo of your children, too.
// After:  A: That's a good idea. She loves letters.  B: Why does she hate letters?
// Graph:  (s / send-01 :mode imperative ...)
//   => (c / cause-01 :ARG1 (h / hate-01 :ARG0 (s / she) :ARG1 (l / letter)) :ARG0 (a / amr-unknown))
//
// A statement of an earlier turn is repeated in a reply frame such as "Why ...?" (see negated_claim), with an antonym.
// The query works in three steps:
//   1. Find the statements that can be repeated, the later turns and the words that can be changed.
//   2. Choose the later turns to replace, and the reply frames of each statement.
//   3. Make the edits.
//
// An antonym must meet the same conditions as in antonym_substitution. It must fit the use of the word in this sentence
// (noun, modifier or frame) and the kind of thing that the word describes. A frame must have all numbered roles of the
// node.

// Step 1: find the earlier statements, the later turns that can be replaced, and the words that can be changed.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The edit "say" replaces it and everything below it.
  n.position = 0
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters."
  OR n.repeatable IS NOT NULL
  // The node is an opinion: "I think that she loves letters."
  OR 'opinion' IN n.classes AND 'thinking' IN n.classes
  // The node is *you* or *we*. Step 2 excludes some replies that repeat a statement with these pronouns.
  OR n.concept IN ['you', 'we']
  // The word is a verb or modifier that may have an antonym. The transform thing_claim replaces nouns, because the
  // opposites of nouns are often other things (brother and sister, a tree and a forest).
  OR n.opposable_as IS NOT NULL AND n.opposable_as <> 'noun'
    // Words for times are changed by time_claim instead, because their antonyms seldom fit: nobody says "I've been
    // sneezing a lot early".
    AND n.temporal IS NULL
OPTIONAL MATCH (n)-[:LEXEME]->(:Term)-[a:ANTONYM]->(x)
WHERE (
    // The antonym edge applies to the word as it is used in this sentence: "old" as a modifier, or "love" as the frame
    // love-01.
    n.opposable_as <> 'noun' AND n.temporal IS NULL AND a.used_as = n.opposable_as
    // The antonym edge applies to every frame of the word that PropBank does not list. The property "known"
    // of the edge contains the frames that PropBank lists. The new frame must have an agent (ARG0) exactly if
    // the old frame has one, and a patient (ARG1) exactly if the old frame has one.
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
WITH d, t, n, coalesce(x.lemma, x.text) AS word, min(coalesce(x.id, x.text)) AS concept
// A word can have several antonyms. Collect them in one list per word.
WITH d, t, n, [o IN collect({concept: concept}) WHERE o.concept IS NOT NULL] AS options
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker, options: options}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops,
     [n IN nodes WHERE n.node.concept = 'you'] AS addressees,
     [n IN nodes WHERE n.node.concept = 'we'] AS groups
UNWIND [n IN nodes WHERE
  (n.node.repeatable IS NOT NULL
    // An opinion is repeated only if it has content: "I think that she loves letters", but not "I agree".
    OR 'thinking' IN n.node.classes AND n.node.main_clause AND n.node.subtree_last - n.position > 2)
  // Only statements can be contradicted. "Where is it?" and "Sit down!" claim nothing.
  AND n.node.clause_type = 'statement'
  // The node is a main predicate ("know" in "I know that she loves letters"; "tired" and "work" in "I'm tired, but she
  // works"), or the ARG1 of the top: in "I stayed because it rained", the top is cause-01, and its ARG1 is the main
  // clause.
  AND (n.node.main_clause OR n.node.parent = n.node.sentence_top AND n.node.role = 'ARG1')
  // Skip long sentences, because readers do not notice a small change in them.
  AND n.node.subtree_last - n.position <= 16
  // Skip negative statements, because a change of one word may leave them true: "She doesn't love old letters" and
  // "She doesn't love new letters" do not contradict each other.
  AND n.node.negated IS NULL] AS claim

// Step 2: choose the later turns to replace, and the reply frames, such as "So ...?", for the repeated statement.
WITH nodes, dialogue, tops, addressees, groups, claim, claim.node AS predicate,
     coalesce(claim.node.repeatable, '') = 'anywhere' AS context_free,
     // True if the statement contains "you": "You can call me" is about the addressee, too.
     size([y IN addressees WHERE y.amr = claim.amr AND claim.node.sentence_top IN y.node.pronoun_sentences]) > 0
       AS to_addressee,
     // True if the statement contains "we". The other speaker does not repeat "We went to Rome", because "we"
     // may or may not include the other speaker.
     size([w IN groups WHERE w.amr = claim.amr AND claim.node.sentence_top IN w.node.pronoun_sentences]) > 0
       AS of_group,
     // The words of the statement that have an antonym: "loves" in "She loves letters".
     [c IN nodes WHERE c.amr = claim.amr
        // The word is below the head of the statement in the graph, so it belongs to the statement.
        AND c.position >= claim.position AND c.position <= claim.node.subtree_last
        AND size(c.options) > 0] AS changes
WHERE size(changes) > 0
UNWIND [top IN tops WHERE
  top.turn > claim.turn AND (
    // "She loves it" is repeated only in the next turn, by the other speaker. Later, it may be unclear who
    // "she" is.
    top.turn = claim.turn + 1 AND top.speaker <> claim.speaker
    // "My sister loves letters" is clear without its context, so either speaker can repeat it up to four turns later.
    OR context_free AND top.turn <= claim.turn + 4)] AS top
WITH dialogue, predicate, top, to_addressee, of_group, changes,
     CASE WHEN top.speaker = claim.speaker THEN 'own' ELSE 'other' END AS voice
WHERE NOT (voice = 'other' AND of_group)
UNWIND CASE
    WHEN voice = 'own' THEN ['claim', 'said']
    // If the statement is about the addressee, do not ask "why": speakers know why they do something, so "Why do I
    // have to call you tomorrow?" would be strange.
    WHEN to_addressee THEN ['check', 'said']
    ELSE ['check', 'why', 'surprise', 'said']
  END AS frame
UNWIND changes AS change
UNWIND change.options AS option

// Step 3: make the edits: replace the turn by a copy of the statement, then change a word of the copy.
UNWIND [
  {position: 0, op: 'say', from_amr: predicate.amr, from_position: predicate.position, voice: voice, frame: frame},
  {position: change.position, op: 'set', concept: option.concept, value: option.value,
   copy_of: predicate.amr}] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + toString(change.position)
    + coalesce(option.concept, option.value) + '>' + frame}) AS edits
