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
// leaves?"
//
// There is no proof: the discourse layer does not read a question as a wish to know.

UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of a question: "leave" in "When does the bus leave?"
  n.main_clause AND n.clause_type = 'question'
  // The node is the top of its sentence. In "When did you come and who sent you?", each clause asks something else.
  AND n.position = n.sentence_top
  // The question has a verb, or is about what something is: "How much is it?" The rest, such as "Tea?", is a fragment.
  AND n.subtree_last - n.position >= 1
  // In a long question, a reader does not notice the negation.
  AND n.subtree_last - n.position <= 14
  // "May I try it on?" and "Could you open it?" are requests, which request_claim uses.
  AND n.concept <> 'possible-01'
// Replace the next turn by a copy of the question under want-01 and know-01, then negate the wish. Only the next turn
// is replaced: later, the question has been answered, so nobody wonders any more what was asked.
UNWIND [
  {op: 'say', from_amr: n.amr, from_position: n.position, concept: 'know-01',
   // Nobody has said "I want to know when the bus leaves", so no frame quotes it ("But you said ...").
   frames: ['check', 'why', 'surprise', 'meaning']},
  {position: -1, op: 'add', role: 'polarity', value: '-', copy_of: n.amr}] AS edit
RETURN d.id AS dialogue, collect(edit {.*, site: n.amr + '.' + toString(n.position)}) AS edits
