// thing_claim: Replaces a turn by a reply that repeats an earlier statement with another thing, person or place.
// category: C-ent
// proof: other argument
// source: Gupta et al. (2021), error category C-ent
// needs: claims
//
// Before: A: I want to get my car washed on Friday.  B: No problem.
// After:  A: I want to get my car washed on Friday.  B: So you want to get your bike washed on Friday?
// Graph:  (n / no :mod-of (p / problem))
//   => (w / want-01 ... :ARG1 (w2 / wash-01 :ARG0 (b / bike :poss y) ...) :mode interrogative)
//
// A statement of an earlier turn is repeated in a reply frame such as "So ...?" (see negated_claim), with another thing
// of the same class.
//
// The lexicon lists pairs of things that are said in the same sentences (relationship ALTERNATIVE, scale thing):
// "car" and "bike", "coffee" and "tea". Names and parts of longer names ("car park") are not changed.

// Collect the nouns of all turns. Frames and names are not replaced.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (m:AmrNode {amr: t.amr})
WHERE m.kind IS NOT NULL AND m.frame IS NULL AND m.has_name IS NULL
OPTIONAL MATCH (m)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'thing'}]->(x:Term)
WITH d.id AS dialogue, t.turn AS turn, m, [text IN collect(x.text) WHERE text IS NOT NULL] AS options
WITH dialogue, collect({amr: m.amr, turn: turn, position: m.position, concept: m.concept, role: coalesce(m.role, ''),
                        parent: m.parent, options: options}) AS nouns
UNWIND [d IN $dialogues WHERE d.id = dialogue] AS d
UNWIND d.claims AS claim
WITH dialogue, claim, nouns
WHERE
<<<<<<< HEAD
  // Skip negative claims, because a change of one word may leave them true: "She doesn't love old letters" and "She
  // doesn't love new letters" do not contradict each other.
  NOT claim.negated
  // Skip fragments such as "A snowman over there!"
  AND claim.kind IN ['statement', 'thought']
// Find the nouns of the claim that can be replaced: "car" in "I want to get my car washed".
UNWIND [n IN nouns WHERE n.amr = claim.amr
  // The word is below the main predicate in the graph, so it belongs to the claim.
  AND n.position >= claim.position AND n.position <= claim.last
  // The noun is not part of a compound: "department store" must not become "department bank".
  AND n.role <> 'mod'
  AND none(m IN nouns WHERE m.amr = n.amr AND m.parent = n.position AND m.role = 'mod')
  // Neither the claim nor an earlier turn mentions the new thing. Otherwise the changed claim could be true.
  AND none(m IN nouns WHERE m.turn <= claim.turn AND m.concept IN n.options)] AS n
UNWIND n.options AS concept
// Replace the turn by a copy of the claim, then replace the noun in the copy.
=======
  // The node is the top of the graph of a turn. The edit "say" replaces it and everything below it.
  n.position = 0
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters."
  OR n.repeatable IS NOT NULL
  // The node is an opinion: "I think that she loves letters."
  OR 'opinion' IN n.classes AND 'thinking' IN n.classes
  // The node is *you* or *we*. Step 2 excludes some replies that repeat a statement with these pronouns.
  OR n.concept IN ['you', 'we']
  // The node is a noun that is not a frame or a name. The lexicon may list a noun that can replace it.
  OR n.kind IS NOT NULL AND n.frame IS NULL AND n.has_name IS NULL
OPTIONAL MATCH (n)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'thing'}]->(x:Term)
WITH d, t, n, [o IN collect({concept: x.text}) WHERE o.concept IS NOT NULL] AS options
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
     // The nouns of the statement that can be replaced: "car" in "I want to get my car washed".
     [c IN nodes WHERE c.amr = claim.amr
        // The word is below the head of the statement in the graph, so it belongs to the statement.
        AND c.position >= claim.position AND c.position <= claim.node.subtree_last
        AND size(c.options) > 0
        // The word is no verb: in "You are booked" and "I'm reporting from the scene", it heads the statement.
        AND (c.position <> claim.position OR c.node.frame IS NULL)
        // The noun is not part of a compound: "department store" must not become "department bank".
        AND coalesce(c.node.role, '') <> 'mod'
        AND size([m IN nodes WHERE m.amr = c.amr AND m.node.parent = c.position AND m.node.role = 'mod']) = 0
        // Neither the statement nor an earlier turn mentions the new thing. Otherwise the changed statement could be
        // true.
        AND none(o IN c.options WHERE
          any(m IN nodes WHERE m.node.concept = o.concept AND m.turn <= claim.turn))] AS changes
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
>>>>>>> types9
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: claim.position, context_free: claim.context_free,
    frames: [frame IN claim.frames WHERE frame <> 'meaning'], own_frames: ['claim', 'said']},
  {position: n.position, op: 'set', concept: concept, copy_of: claim.amr}] AS edit
RETURN dialogue, collect(edit {.*, site: claim.id + '>' + toString(n.position) + concept}) AS edits
