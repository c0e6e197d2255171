// quantity_claim: Replaces a turn by a reply that repeats an earlier statement with another number.
// category: C-ent
// source: Gupta et al. (2021), error category C-ent
//
// Before: A: It costs sixty dollars.  B: That's too much.
// After:  A: It costs sixty dollars.  B: Why does it cost one hundred and twenty dollars?
// Graph:  (m / much ...)
//   => (c / cause-01 :ARG1 (c2 / cost-01 ... :ARG2 (m / monetary-quantity :quant 120 ...)) :ARG0 (a / amr-unknown))
//
// A statement of an earlier turn is repeated in a reply frame, as in negated_claim, with another number. The query
// works in three steps:
//   1. Find the statements that can be repeated, the later turns and the words that can be changed.
//   2. Choose the later turns and the frames of each statement.
//   3. Make the edits.
//
// Amounts of at least two are doubled: "two kilos" becomes "four kilos". One is not changed, because the form of its
// noun would have to change, too.

// Step 1: find the statements that can be repeated, the later turns, and the words that can be changed.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The reply replaces the whole turn.
  n.position = 0
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters."
  OR n.repeatable IS NOT NULL
  // The node is an opinion: "I think that she loves letters."
  OR 'opinion' IN n.classes AND 'thinking' IN n.classes
  // The node is *you* or *we*: not every kind of reply can repeat a statement with these pronouns.
  OR n.concept IN ['you', 'we']
  // The number says how many or how much: "sixty dollars", "two rooms".
  OR n.role = 'quant' AND n.value =~ '[1-9][0-9]{0,5}'
WITH d, t, n,
     CASE WHEN n.role = 'quant' AND n.value =~ '[1-9][0-9]{0,5}' AND n.value <> '1'
       THEN toString(toInteger(n.value) * 2) END AS value
WITH d, t, n, CASE WHEN value IS NULL THEN [] ELSE [{value: value}] END AS options
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker, options: options}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops,
     [n IN nodes WHERE n.node.concept = 'you'] AS addressees,
     [n IN nodes WHERE n.node.concept = 'we'] AS groups
UNWIND [n IN nodes WHERE
  (n.node.repeatable IS NOT NULL
    // An opinion must contain a statement to repeat: "I think that she loves letters" does, but "I agree" does not.
    OR 'thinking' IN n.node.classes AND n.node.main_clause AND n.node.subtree_last - n.position > 2)
  // Use only statements: questions ("Where is it?") and orders ("Sit down!") cannot be contradicted.
  AND n.node.clause_type = 'statement'
  // Use only the main clause: not "she loves letters" in "I know that she loves letters". In "I stayed because it
  // rained", the main clause "I stayed" is the ARG1 of cause-01.
  AND (n.position = n.node.sentence_top OR n.node.parent = n.node.sentence_top AND n.node.role = 'ARG1')
  // Use only short sentences, because a reader does not notice the change in a long sentence.
  AND n.node.subtree_last - n.position <= 16
  // "She doesn't love old letters": a change of one word may leave a negative statement true.
  AND n.node.negated IS NULL] AS claim

// Step 2: choose the later turns and the frames.
WITH nodes, dialogue, tops, addressees, groups, claim, claim.node AS predicate,
     coalesce(claim.node.repeatable, '') = 'anywhere' AS context_free,
     // Whether the statement is also about the addressee: "You can call me."
     size([y IN addressees WHERE y.amr = claim.amr AND claim.node.sentence_top IN y.node.pronoun_sentences]) > 0
       AS to_addressee,
     // Whether the statement contains "we". After "We went to Rome", it is not clear whether the addressee was there,
     // so only the same speaker may repeat the statement.
     size([w IN groups WHERE w.amr = claim.amr AND claim.node.sentence_top IN w.node.pronoun_sentences]) > 0
       AS of_group,
     // The words of this statement that can be changed.
     [c IN nodes WHERE c.amr = claim.amr
        // The word is part of the statement.
        AND c.position >= claim.position AND c.position <= claim.node.subtree_last
        AND size(c.options) > 0] AS changes
WHERE size(changes) > 0
UNWIND [top IN tops WHERE
  top.turn > claim.turn AND (
    // "She loves it" can be repeated only in the next turn, by the other speaker, while it is clear who she is.
    top.turn = claim.turn + 1 AND top.speaker <> claim.speaker
    // "My sister loves letters" can be repeated some turns later, by both speakers.
    OR context_free AND top.turn <= claim.turn + 4)] AS top
WITH dialogue, predicate, top, to_addressee, of_group, changes,
     CASE WHEN top.speaker = claim.speaker THEN 'own' ELSE 'other' END AS voice
WHERE NOT (voice = 'other' AND of_group)
UNWIND CASE
    WHEN voice = 'own' THEN ['claim', 'said']
    // About "you", ask no "why": speakers know why they do something, so "Why do I have to call you tomorrow?" is
    // strange.
    WHEN to_addressee THEN ['check', 'said']
    ELSE ['check', 'why', 'surprise', 'said']
  END AS frame
UNWIND changes AS change
UNWIND change.options AS option

// Step 3: make the edits: repeat the sentence in the later turn, then change this copy.
UNWIND [
  {position: 0, op: 'say', from_amr: predicate.amr, from_position: predicate.position, voice: voice, frame: frame},
  {position: change.position, op: 'set', concept: option.concept, value: option.value,
   copy_of: predicate.amr}] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + toString(change.position)
    + coalesce(option.concept, option.value) + '>' + frame}) AS edits
