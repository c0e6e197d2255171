// asked_claim: Replaces a turn by a reply that asks for something that an earlier statement has said.
// category: C-follow
// proof: asks what was said
// source: Gupta et al. (2021), error category C-follow
//
// Before: A: I want to get my car washed on Friday.  B: No problem.
// After:  A: I want to get my car washed on Friday.  B: When do you want to get your car washed?
// Graph:  (n / no :mod-of (p / problem))
//   => (w / want-01 :ARG0 (y / you) :ARG1 (g / get-05 ... :time (a / amr-unknown)))
//
// A statement of the other speaker is turned into a question for one of its objects, times or places. The statement
// already answers this question, so the speaker of the reply seems not to have listened. There are three steps:
//   1. Find the statements that can be repeated, the later turns and the phrases that can be asked for.
//   2. Choose the later turns.
//   3. Make the edits: replace the turn by a copy of the statement, drop the phrase from the copy and add
//      amr-unknown in its place.

// Step 1: find the earlier statements, the later turns that can be replaced, and the phrases that can be asked for.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The edit "say" replaces it and everything below it.
  n.position = 0
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters."
  OR n.repeatable IS NOT NULL
  // The node is *we* or *you*. Statements with these pronouns are excluded in step 2.
  OR n.concept IN ['we', 'you']
  // The node is a time or a place: "on Friday", "at home".
  OR n.role IN ['time', 'location', 'destination']
  // The node is an object: "a cup of tea".
  OR n.role IN ['ARG1', 'ARG2', 'ARG4'] AND (n.kind IS NOT NULL OR n.frame)
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops,
     [n IN nodes WHERE n.node.concept IN ['we', 'you']] AS groups
UNWIND [n IN nodes WHERE
  n.node.repeatable IS NOT NULL
  // Only statements can be contradicted. "Where is it?" and "Sit down!" claim nothing.
  AND n.node.clause_type = 'statement'
  // The node is a main predicate ("know" in "I know that she loves letters"; "tired" and "work" in "I'm tired, but she
  // works"), or the ARG1 of the top: in "I stayed because it rained", the top is cause-01, and its ARG1 is the main
  // clause.
  AND (n.node.main_clause OR n.node.parent = n.node.sentence_top AND n.node.role = 'ARG1')
  // Skip long sentences, because a reader does not remember all of them.
  AND n.node.subtree_last - n.position <= 16
  // Skip negative statements. "She doesn't love old letters" does not say what she loves, so "What does she love?" is
  // a correct reply.
  AND n.node.negated IS NULL] AS claim

// Step 2: choose the later turns.
WITH dialogue, nodes, tops, groups, claim, claim.node AS predicate,
     coalesce(claim.node.repeatable, '') = 'anywhere' AS context_free,
     // The phrases of the statement for which the reply can ask: "When ...?" for "on Friday".
     [c IN nodes WHERE c.amr = claim.amr
        // The phrase is below the main predicate of the statement, so it belongs to the statement.
        AND c.position > claim.position AND c.position <= claim.node.subtree_last
        // The phrase is an argument of the main predicate or of a verb below it: "I want to learn the piano." A
        // phrase that is deeper in the sentence may be a part of another phrase.
        AND (c.node.parent = claim.position
          OR any(m IN nodes WHERE m.amr = c.amr AND m.position = c.node.parent AND m.node.parent = claim.position
            AND m.node.frame AND m.node.role IN ['ARG1', 'ARG2']))
        // The phrase is short and ends the sentence. In "I bought a car from a friend", "from a friend" might belong to
        // "a car", so "car" could not be replaced by "what".
        AND c.node.subtree_last = claim.node.subtree_last
        AND c.node.subtree_last - c.position <= 4
        // The phrase is not a clause, such as "when he began".
        AND c.node.frame IS NULL
        AND (
          // The phrase is a time, but not an adverb such as "often", which does not answer "When?".
          c.node.role = 'time' AND (c.node.fixed_time IS NULL AND c.node.temporal OR c.node.concept = 'date-entity')
            AND NOT 'adverb-of-time' IN c.node.classes
          // The phrase is a place of a known kind. "Here" has no known kind and does not answer "Where?".
          OR c.node.role IN ['location', 'destination'] AND c.node.kind <> 'other'
          // The phrase is an object with content, unlike "it" and "something". The predicate must have an agent: in
          // "The lake froze", the lake is the ARG1, but also the subject.
          OR c.node.role IN ['ARG1', 'ARG2', 'ARG4'] AND c.node.topical AND 'ARG0' IN claim.node.roles)] AS phrases
WHERE size(phrases) > 0
  // Skip statements with "we" or "you", because the addressee may know the answer anyway: "We went to Rome", "You have
  // two keys".
  AND none(w IN groups WHERE w.amr = claim.amr AND claim.node.sentence_top IN w.node.pronoun_sentences)
UNWIND [top IN tops WHERE
  // The later turn must be by the other speaker: nobody asks about their own statement.
  top.turn > claim.turn AND top.speaker <> claim.speaker
  // "She loves it" can be asked about only in the next turn, while it is clear who she is. "My sister loves letters" can
  // be asked about up to four turns later.
  AND (top.turn = claim.turn + 1 OR context_free AND top.turn <= claim.turn + 4)] AS top
UNWIND phrases AS phrase

// Step 3: make the edits.
UNWIND [
  {position: 0, op: 'say', from_amr: predicate.amr, from_position: predicate.position, voice: 'other', frame: 'ask'},
  {position: phrase.position, op: 'drop', copy_of: predicate.amr},
  {position: phrase.node.parent, op: 'add', role: phrase.node.role, concept: 'amr-unknown',
   copy_of: predicate.amr}] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + toString(phrase.position)
    + '>ask'}) AS edits
