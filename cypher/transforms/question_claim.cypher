// question_claim: Replaces a turn by a reply that treats somebody as knowing what they have just asked.
// category: C-cont
// source: Gupta et al. (2021), error category C-cont
//
// Before: A: When does the bus leave?  B: At nine.
// After:  A: When does the bus leave?  B: So you know when the bus leaves?
// Graph:  (d / date-entity :time "9:00")
//   => (k / know-01 :ARG1 (l / leave-11 :ARG0 (b / bus) :time (a / amr-unknown)) :ARG0 (y / you) :mode interrogative)
//
// A question makes no claim, but it shows that its speaker does not know the answer. "When does the bus leave?" is
// repeated as "you don't know when the bus leaves", and the negation is dropped: "So you know when the bus leaves?" A
// yes/no question is repeated as a statement: after "Are you angry?", the reply is "What do you mean, I'm angry?"
//
// There is no proof: the discourse layer does not infer from a question that its speaker does not know the answer.

UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of a question: "leave" in "When does the bus leave?"
  n.main_clause AND n.clause_type = 'question'
  // The node is the top of its sentence. In "When did you come and who sent you?", the top is "and", so skip it.
  AND n.position = n.sentence_top
  // The question has a verb, or is about what something is: "How much is it?" Skip fragments such as "Tea?"
  AND n.subtree_last - n.position >= 1
  // Skip long questions, because a reader does not notice that the negation is missing in the reply.
  AND n.subtree_last - n.position <= 14
  // Skip requests ("May I try it on?", "Could you open it?"), which the transform request_claim uses.
  AND n.concept <> 'possible-01'
// Replace the next turn by a copy of the question. Only the next turn is replaced: later, the question may have been
// answered.
UNWIND CASE
  // Put the copy under know-01 with a negation ("you don't know when the bus leaves"), then drop the negation. Nobody has
  // said "I know when the bus leaves", so no frame quotes it ("But you said ..."), and "Why do you know when the bus
  // leaves?" would be strange.
  WHEN n.question_position IS NULL AND n.asked_roles IS NOT NULL THEN [
    {op: 'say', from_amr: n.amr, from_position: n.position, concept: 'know-01',
     frames: ['check', 'surprise', 'meaning']},
    {position: -1, op: 'drop', role: 'polarity', copy_of: n.amr}]
  // In a yes/no question, drop the node that makes it a question: "You are angry." Put "What do you mean," or "But you
  // said" before the copy. After "So", the reply would answer the question: "So I'm angry?"
  WHEN n.question_position IS NOT NULL THEN [
    {op: 'say', from_amr: n.amr, from_position: n.position, frames: ['meaning', 'said']},
    {position: n.question_position, op: 'drop', copy_of: n.amr}]
  ELSE [] END AS edit
RETURN d.id AS dialogue, collect(edit {.*, site: n.amr + '.' + toString(n.position)}) AS edits
