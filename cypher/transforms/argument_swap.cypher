// argument_swap: Swaps an argument or conjunct (a small ARG or op subtree) with one of the same kind from another turn.
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
// - Both subtrees must be of the same kind, because with a random object the sentence would make no sense. People are
//   swapped with people, and places with places. Things that somebody has, buys or sees are swapped with things of any
//   kind. An action that somebody wants or begins to do is swapped with another action that somebody wants or begins
//   to do: "I want to sleep" gets the action of "I began to sing".
// - Modifiers are not swapped, because another adjective seldom makes an answer wrong.
// - Pronouns, greetings, quoted words, parts of a word ("lamp" in "lamplighter") and question words are not swapped.
// - A noun with a relative clause is not swapped. Possessors, quantities and "of" phrases move with their noun.
// - The edited turn contradicts later turns more often than earlier turns. Therefore the transform is only used for
//   negatives of whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// The node is an argument of a known kind with at most five nodes below it: "an umbrella" in "I have an umbrella".
WHERE n.argument_type IS NOT NULL
RETURN d.id AS dialogue, collect({
  amr: n.amr, position: n.position, op: 'graft',
  // The words of the subtree. The engine swaps only subtrees with different words, because replacing "my keys" by "my
  // keys" would change nothing.
  content: n.phrase,
  // The score makes the engine prefer nodes that repeat something from earlier in the dialogue: replacing such a node
  // also contradicts the earlier mentions.
  score: size(coalesce(n.repeats, [])),
  // The engine swaps two subtrees only if they have the same swap_pool: here the role and the argument type.
  swap_pool: CASE
    // "I gave him a book" has the book as ARG1, and "I filled it with water" has the water as ARG2. Both are objects
    // and can be swapped.
    WHEN n.role IN ['ARG1', 'ARG2'] THEN 'object'
    // In "bread and milk", the conjuncts are op1 and op2. Their order has no meaning, so op1 can be swapped with op2.
    WHEN n.role STARTS WITH 'op' THEN 'op'
    ELSE n.role END + ' ' + n.argument_type}) AS edits
