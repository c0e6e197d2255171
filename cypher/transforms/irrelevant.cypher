// irrelevant: Swaps a small ARG or op subtree with one of the same kind from another turn.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022, section 3), irrelevancy
// target: dialogue
//
// Before: B: I have an umbrella in the car.  A: I don't want to get wet. Let's run!  B: Wait! You dropped your keys.
// After:  B: I have your keys in the car.  A: I don't want to get wet. Let's run!  B: Wait! You dropped your keys.
// Graph:  (h / have-03 :ARG0 (i / i) :ARG1 (u / umbrella) :location (c / car))
//   => (h / have-03 :ARG0 (i / i) :ARG1 (k / key :poss (y / you)) :location (c / car))
//
// Departures from DEAM:
// - Both subtrees must be of one kind: people with people, places with places, things with things where somebody has,
//   buys or sees them, and what somebody wants or begins to do with another such action. A random object makes a
//   sentence that nobody says.
// - Modifiers are not swapped: another adjective seldom makes an answer wrong.
// - Pronouns, greetings, quoted words, parts of a word ("lamp" in "lamplighter") and what is asked for are not swapped.
// - A noun with a relative clause is not swapped. Possessors, quantities and "of" phrases move with their noun.
// - The result seldom clashes with earlier turns but often with later ones, so that all sites are for negatives of
//   whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// The node is an argument whose kind is known, with at most five nodes below it.
WHERE n.slot IS NOT NULL
RETURN d.id AS dialogue, collect({amr: n.amr, k: n.k, op: 'graft',
    // The words of the subtree: a partner with the same words is no change.
    own: n.phrase,
    // The engine prefers what the dialogue has said before: its replacement clashes with more turns.
    score: size(coalesce(n.echo, [])),
    // Subtrees of one pool can be swapped: same role, same kind.
    pool: CASE
    // Objects can be swapped between ARG1 and ARG2: "I gave him a book" and "I bought a map".
    WHEN n.role IN ['ARG1', 'ARG2'] THEN 'object'
    // Members of a coordination, whatever their number: "bread and milk".
    WHEN n.role STARTS WITH 'op' THEN 'op'
    ELSE n.role END + ' ' + n.slot}) AS edits
