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
  // Skip negative claims, because a change of one word may leave them true: "She doesn't love old letters" and "She
  // doesn't love new letters" do not contradict each other.
  NOT claim.negated
  // Skip fragments such as "A snowman over there!"
  AND claim.kind IN ['statement', 'thought']
// Find the nouns of the claim that can be replaced: "car" in "I want to get my car washed".
UNWIND [n IN nouns WHERE n.amr = claim.amr
  // The word belongs to the claim, and not to another clause of the turn.
  AND n.position >= claim.position AND n.position <= claim.last
  // The noun is not part of a compound: "department store" must not become "department bank".
  AND n.role <> 'mod'
  AND none(m IN nouns WHERE m.amr = n.amr AND m.parent = n.position AND m.role = 'mod')
  // Neither the claim nor an earlier turn mentions the thing that replaces the noun, such as "bike" for "car". If
  // both things had been mentioned, the edited claim could be true.
  AND none(m IN nouns WHERE m.turn <= claim.turn AND m.concept IN n.options)] AS n
UNWIND n.options AS concept
// Replace a later turn by a copy of the claim ("I want to get my car washed"). Then replace the noun in this copy
// ("car" by "bike").
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: claim.position, context_free: claim.context_free,
    frames: [frame IN claim.frames WHERE frame <> 'meaning'], own_frames: ['claim', 'said']},
  {position: n.position, op: 'set', concept: concept, copy_of: claim.amr}] AS edit
RETURN dialogue, collect(edit {.*, site: claim.id + '>' + toString(n.position) + concept}) AS edits
