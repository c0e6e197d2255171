// question_claim: Replaces a turn by a reply that denies that somebody wants to know what they have just asked.
// category: C-cont
// source: Gupta et al. (2021), error category C-cont
//
// Before: A: When does the bus leave?  B: At nine.
// After:  A: When does the bus leave?  B: Why don't you want to know when the bus leaves?
// Graph:  (d / date-entity :time "9:00")
//   => (c / cause-01 :ARG1 (w / want-01 :polarity - :ARG1 (k / know-01 :ARG1 (l / leave-11 :ARG0 (b / bus)
//        :time (a / amr-unknown)) :ARG0 (y / you)) :ARG0 y) :ARG0 (a2 / amr-unknown))
//
// A question makes no claim, but it shows that its speaker wants to know the answer. "When does the bus leave?" is
// repeated as the wish "you want to know when the bus leaves" and negated: "So you don't want to know when the bus
// leaves?" The query works in three steps:
//   1. Find the questions and the next turns.
//   2. Choose the turns to replace, and the reply frames.
//   3. Make the edits: replace the turn by a copy of the question under want-01 and know-01 ("say" with the concept
//      know-01), then negate the wish.
//
// There is no proof: the discourse layer does not read a question as a wish to know.

// Step 1: find the questions and the turns that can be replaced.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The reply replaces the whole turn.
  n.position = 0
  // The node is the top of a question: "leave" in "When does the bus leave?"
  OR n.main_clause AND n.clause_type = 'question'
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops
UNWIND [n IN nodes WHERE
  n.node.main_clause AND n.node.clause_type = 'question'
  // The node is the top of its sentence. In "When did you come and who sent you?", each clause asks something else.
  AND n.position = n.node.sentence_top
  // The question has a verb, or is about what something is: "How much is it?" The rest, such as "Tea?", is a fragment.
  AND n.node.subtree_last - n.position >= 1
  // In a long question, a reader does not notice the negation.
  AND n.node.subtree_last - n.position <= 14
  // "May I try it on?" and "Could you open it?" are requests, which request_claim uses.
  AND n.node.concept <> 'possible-01'] AS question

// Step 2: choose the turns to replace, and the reply frames, such as "So ...?", for the repeated wish.
UNWIND [top IN tops WHERE
  // Later, the question has been answered, so nobody wonders any more what was asked.
  top.turn = question.turn + 1 AND top.speaker <> question.speaker] AS top
// Nobody has said "I want to know when the bus leaves", so no frame quotes it ("But you said ...").
UNWIND ['check', 'why', 'surprise', 'meaning'] AS frame

// Step 3: make the edits.
UNWIND [
  {position: 0, op: 'say', from_amr: question.amr, from_position: question.position, voice: 'other', frame: frame,
   concept: 'know-01'},
  {position: -1, op: 'add', role: 'polarity', value: '-', copy_of: question.amr}] AS edit
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + question.amr + '.' + toString(question.position) + '>' + frame}) AS edits
