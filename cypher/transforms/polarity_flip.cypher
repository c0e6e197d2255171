// polarity_flip: Flips the polarity of a main predicate: adds :polarity -, or drops an existing :polarity -.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022, section 3), contradiction
// target: dialogue
//
// Before: A: Yes, I left the windows open.  B: I have an umbrella in the car.  A: I don't want to get wet.
// After:  A: Yes, I left the windows open.  B: I do not have an umbrella in the car.  A: I don't want to get wet.
// Graph:  (h / have-03 :ARG0 (i / i) :ARG1 (u / umbrella) :location (c / car))
//   => (h / have-03 :polarity - :ARG0 (i / i) :ARG1 (u / umbrella) :location (c / car))
//
// Departures from DEAM:
// - DEAM adds a negated copy of an utterance to a later turn, as the transform self_contradiction does. This transform
//   negates the utterance itself. A negated response could often also be right; only the following turns
//   show that it is wrong. Therefore the transform is only used for negatives of whole dialogues.
// - Questions, bare nominals, exclamations, greetings and thanks are skipped.
// - Clauses that are negative without "not" ("Nobody came") are skipped.
// - In a clause with a modal, the modal is negated: "You can go" becomes "You cannot go".
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (p:AmrNode {amr: t.amr})
WHERE
  // The clause has a :polarity - that can be dropped: "I don't like pills". In "You must not drive", the :polarity is
  // below the modal.
  p.negation_position IS NOT NULL
  // The clause can be negated: "I have an umbrella", "Open the window", "I do".
  OR p.clause_type IN ['statement', 'order', 'answer']
    // "Nobody came" is already negative. Adding "not" would make it affirmative.
    AND p.negated IS NULL
WITH d.id AS dialogue, p,
     // If the claim was already made earlier in the dialogue, its denial also contradicts the earlier turns. The score
     // makes the engine prefer such claims.
     size(coalesce(p.repeats, [])) AS score
RETURN dialogue, collect(
  CASE WHEN p.negation_position IS NULL
    // "I have an umbrella" becomes "I do not have an umbrella".
    THEN {amr: p.amr, position: p.position, op: 'add', role: 'polarity', value: '-', score: score}
    // "I don't like pills" becomes "I like pills".
    ELSE {amr: p.amr, position: p.negation_position, op: 'drop', score: score}
  END) AS edits
