// request_claim: Replaces a turn by a reply that denies that somebody wants what they have asked for.
// category: C-cont
// source: Gupta et al. (2021), error category C-cont
//
// Before: A: This dress is beautiful. May I try it on?  B: Of course.
// After:  A: This dress is beautiful. May I try it on?  B: Why don't you want to try it on?
// Graph:  (o / of-course)
//   => (c / cause-01 :ARG1 (w / want-01 :polarity - :ARG1 (t / try-01 :ARG0 (y / you) ...) :ARG0 y)
//        :ARG0 (a / amr-unknown))
//
// A request makes no claim, but it shows what its speaker wants. "Please have a seat" is repeated as the wish "you want
// me to have a seat" and negated: "So you don't want me to have a seat?" A speaker can also deny their own wish: "I don't
// want to try it on."
//
// There is no proof: the discourse layer does not read a request as a wish.

UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH d.id AS dialogue, t.amr AS amr, collect(n) AS nodes
// Find the requests: orders ("Have a seat.") and questions ("May I try it on?").
UNWIND [n IN nodes WHERE n.main_clause AND n.clause_type IN ['order', 'question']] AS request
WITH dialogue, amr, nodes,
     // The action is the order itself ("Have a seat."), or the ARG1 of "may", "can", "let me" and "why don't you".
     [n IN nodes WHERE n.frame AND CASE
        WHEN request.clause_type = 'order' AND request.concept <> 'let-01'
          // Skip "Don't worry", which is negative already.
          THEN n.position = request.position
            AND request.imperative_position IS NOT NULL
            AND request.negated IS NULL
        // The action is below "let" ("Let me have a look") or below a modal in a question ("May I try it on?").
        WHEN request.concept = 'let-01' AND request.imperative_position IS NOT NULL
          OR request.concept = 'possible-01' AND request.question_position IS NOT NULL
          THEN n.parent = request.position AND n.role = 'ARG1'
        // "Why don't you buy a car?" asks for something that people do on purpose. "Why don't you know?" does not.
        WHEN request.concept = 'cause-01' AND request.tense = 'present'
          THEN n.parent = request.position AND n.role = 'ARG1'
            AND n.negated
            AND 'deliberate' IN n.classes
        ELSE false
      END] AS actions
WHERE size(actions) = 1
WITH dialogue, amr, nodes, head(actions) AS action
WHERE
  // Skip short requests such as "Relax!". Skip long requests, because a reader does not notice the negation in them.
  action.subtree_last - action.position >= 1
  AND action.subtree_last - action.position <= 14
  // Skip requests with a condition. "So you don't want to keep it if you pay for it?" is a strange reply to "Can I keep
  // it if I pay for it?"
  AND size([n IN nodes WHERE n.role = 'condition' AND n.position > action.position
    AND n.position <= action.subtree_last]) = 0
// Replace a later turn by a copy of the action under want-01, then negate the wish.
UNWIND [
  {op: 'say', from_amr: amr, from_position: action.position, concept: 'want-01',
   // "Try it on" can only be repeated in the next turn: later, "it" may be unclear.
   context_free: size([n IN nodes WHERE n.position >= action.position AND n.position <= action.subtree_last
     AND ('anaphor' IN n.classes OR 'pointer' IN n.classes)]) = 0,
   // Nobody has said "I want you to have a seat", so no frame quotes it ("But you said ...").
   frames: ['check', 'why', 'surprise', 'meaning'], own_frames: ['claim']},
  {position: -1, op: 'add', role: 'polarity', value: '-', copy_of: amr}] AS edit
RETURN dialogue, collect(edit {.*, site: amr + '.' + toString(action.position)}) AS edits
