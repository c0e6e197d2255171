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
// want to try it on." The query works in three steps:
//   1. Find the requests and the later turns.
//   2. Choose the later turns to replace, and the reply frames.
//   3. Make the edits: replace the turn by a copy of the requested action under want-01 ("say" with a concept), then
//      negate the wish.
//
// There is no proof: the discourse layer does not read a request as a wish.

// Step 1: find the requests, their actions, and the later turns that can be replaced.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The reply replaces the whole turn.
  n.position = 0
  // The node is an order ("Have a seat."), or the top of a question ("May I try it on?").
  OR n.main_clause AND n.clause_type IN ['order', 'question']
  // The node is the action of a request: "try" in "May I try it on?"
  OR n.frame AND n.role = 'ARG1'
  // The node is a word such as *it*, which is clear only in the next turn.
  OR 'anaphor' IN n.classes
  OR 'pointer' IN n.classes
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops,
     [n IN nodes WHERE 'anaphor' IN n.node.classes OR 'pointer' IN n.node.classes] AS anaphors
UNWIND [n IN nodes WHERE n.node.main_clause AND n.node.clause_type IN ['order', 'question']] AS request
WITH dialogue, tops, anaphors, request,
     // The action is the order itself ("Have a seat."), or the ARG1 of "may", "can", "let me" and "why don't you".
     [c IN nodes WHERE c.amr = request.amr AND c.node.frame AND CASE
        WHEN request.node.clause_type = 'order' AND request.node.concept <> 'let-01'
          // "Don't worry" is negative already.
          THEN c.position = request.position
            AND request.node.imperative_position IS NOT NULL
            AND request.node.negated IS NULL
        // "May I try it on?", "Could you open the door?", "Let me have a look."
        WHEN request.node.concept = 'let-01' AND request.node.imperative_position IS NOT NULL
          OR request.node.concept = 'possible-01' AND request.node.question_position IS NOT NULL
          THEN c.node.parent = request.position AND c.node.role = 'ARG1'
        // "Why don't you buy a car?" asks for something that people do on purpose. "Why don't you know?" does not.
        WHEN request.node.concept = 'cause-01' AND request.node.tense = 'present'
          THEN c.node.parent = request.position AND c.node.role = 'ARG1'
            AND c.node.negated
            AND 'deliberate' IN c.node.classes
        ELSE false
      END] AS actions
WHERE size(actions) = 1
WITH dialogue, tops, anaphors, request, head(actions) AS action
WHERE
  // "Relax!" is too short to be repeated. In a long request, a reader does not notice the negation.
  action.node.subtree_last - action.position >= 1
  AND action.node.subtree_last - action.position <= 14

// Step 2: choose the later turns to replace, and the reply frames, such as "So ...?", for the repeated wish.
WITH dialogue, tops, request, action,
     size([a IN anaphors WHERE a.amr = action.amr AND a.position >= action.position
       AND a.position <= action.node.subtree_last]) = 0 AS context_free
UNWIND [top IN tops WHERE
  top.turn > request.turn AND (
    // "Try it on" can only be repeated in the next turn, by the other speaker: later, "it" may be unclear.
    top.turn = request.turn + 1 AND top.speaker <> request.speaker
    // "Have a seat" is clear without its context, so either speaker can repeat it up to four turns later.
    OR context_free AND top.turn <= request.turn + 4)] AS top
WITH dialogue, action, top, CASE WHEN top.speaker = request.speaker THEN 'own' ELSE 'other' END AS voice
// Nobody has said "I want you to have a seat", so no frame quotes it ("But you said ...").
UNWIND CASE WHEN voice = 'own' THEN ['claim'] ELSE ['check', 'why', 'surprise', 'meaning'] END AS frame

// Step 3: make the edits.
UNWIND [
  {position: 0, op: 'say', from_amr: action.amr, from_position: action.position, voice: voice, frame: frame,
   concept: 'want-01'},
  {position: -1, op: 'add', role: 'polarity', value: '-', copy_of: action.amr}] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + action.amr + '.' + toString(action.position) + '>' + frame}) AS edits
