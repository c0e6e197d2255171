// person_swap: Swaps I and you in a whole utterance, so that the right content comes from the wrong speaker.
// category: C-speaker
// source: Gupta et al. (2021), error category C-speaker
//
// Before: B: Have you taken any medicine?  A: No, I don't like pills.
// After:  B: Have you taken any medicine?  A: No, you don't like pills.
// Graph:  (l / like-01 :polarity - :ARG0 (i / i) :ARG1 (p / pill))
//   => (l / like-01 :polarity - :ARG0 (y / you) :ARG1 (p / pill))
//
// All pronouns of one graph change together. If a graph contains neither "I" nor "you", "we" becomes "you".
//
// Departures: Gupta et al. name the error category, but no method for it. The rules are this project's own:
// - A graph with a command is skipped, because no word expresses its "you" ("Sit down").
// - A wish or a need of the speaker or of the addressee is not changed, because nobody tells other people what they
//   want ("You want to check out these books"), or asks them for one's own wishes ("Where do I want to go?"). For the
//   same reason, an opinion of the addressee is not changed ("Do I think it will work?").
// - The reply to an offer of service is not changed: after "How may I help you?", "You lost your bag" is silly.
// - Thanks are not changed. Statements about what the speaker guesses, hopes or wonders are not changed either, because
//   nobody says "You hope so".
// - An edit is only for negatives of whole dialogues if the changed response could still be right: only a possessor
//   changes ("my brother"), or the clause says what somebody can or may do. The same applies if "we" stays beside
//   swapped pronouns, because such a response reads badly: "You called while we waited". It also applies to responses
//   that do not answer a question or that ask one: nobody tells other people about themselves without being asked ("You
//   are happy that I like it"), or asks them about oneself ("What did my trainer tell me?").
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph. Its properties describe the whole graph.
  n.position = 0
  // The node stands for "I", "you" or "we".
  OR n.person_role IS NOT NULL
  // The node is a wish ("I want a hat") or may be an offer ("Can I help you?").
  OR 'wishing' IN n.classes
  OR 'serving' IN n.classes
  // The node is an opinion: "Do you think it will work?"
  OR 'thinking' IN n.classes
WITH d.id AS dialogue, t.amr AS amr, t.turn AS turn, collect(n) AS nodes
WITH dialogue, collect({amr: amr, turn: turn, nodes: nodes, top: [n IN nodes WHERE n.position = 0][0],
       pronouns: [n IN nodes WHERE n.person_role IS NOT NULL]}) AS turns
UNWIND turns AS t
WITH dialogue, t.amr AS amr, t.top AS top, t.nodes AS nodes, t.pronouns AS pronouns,
     [previous IN turns WHERE previous.turn = t.turn - 1
       // The previous turn is, or contains, a question.
       AND (previous.top.only_questions OR previous.top.question_sentences IS NOT NULL)
       // The question is about something that its speaker can do: "How may I help you?"
       AND any(n IN previous.nodes WHERE 'serving' IN n.classes
         AND any(p IN previous.pronouns WHERE p.parent = n.position AND p.role = 'ARG0'
           AND p.concept IN ['i', 'we']))] AS offers,
     [previous IN turns WHERE previous.turn = t.turn - 1
       // The previous turn is a question ("Where were you?"), or one of its sentences is.
       AND (previous.top.clause_type = 'question' OR previous.top.question_sentences IS NOT NULL
         OR previous.top.only_questions)] AS questions
WHERE
  // Skip orders. In "Call me", "I" and "you" would have to change together, but no word expresses the "you".
  top.has_imperative IS NULL
  // "I hope it rains" is about the speaker's own thoughts: nobody says "You hope it rains" instead.
  AND top.hedged IS NULL
  // Skip wishes: "I want to check out these books" would become "You want to check out these books".
  AND NOT any(n IN nodes WHERE 'wishing' IN n.classes
    AND any(p IN pronouns WHERE p.parent = n.position AND p.role = 'ARG0'))
  // Skip opinions of the addressee: "Do you think it will work?" would become "Do I think it will work?"
  AND NOT any(n IN nodes WHERE 'thinking' IN n.classes
    AND any(p IN pronouns WHERE p.parent = n.position AND p.role = 'ARG0' AND p.concept = 'you'))
  // Skip replies to offers: after "How may I help you?", "I lost my bag" would become "You lost your bag".
  AND size(offers) = 0
WITH dialogue, amr, top, pronouns, size(questions) > 0 AS answers, [n IN pronouns WHERE n.concept <> 'we'] AS singular
WITH dialogue, amr,
     // "We are late" becomes "You are late". "We" is changed only if there is no "I" and no "you".
     CASE WHEN size(singular) > 0 THEN singular ELSE pronouns END AS changed,
     CASE WHEN
       // A statement with a modal may still be correct after the change: "I can come" and "You can come". Such edits are
       // for whole dialogues only.
       top.has_modal
       // If "we" stays beside a changed pronoun, the response reads badly: "You called while we waited".
       OR size(singular) > 0 AND size(singular) < size(pronouns)
       // If no pronoun is an argument of a predicate, only possessors change: "My brother came" becomes "Your brother
       // came", which may still be correct.
       OR NOT any(n IN singular WHERE n.person_role = 'actor')
       // The response does not answer a question: after "The garden is wonderful!", "You are happy that I like it" is
       // silly.
       OR NOT answers
       // The response asks something: "What tips did my trainer give me?" is silly, too.
       OR top.clause_type = 'question' OR top.question_sentences IS NOT NULL OR top.only_questions
       THEN 'dialogue' END AS target,
     // Give a high score to utterances in which many of the pronouns are arguments of predicates.
     size([n IN pronouns WHERE n.person_role = 'actor']) AS score
UNWIND changed AS n
MATCH (n)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'speaker'}]->(x:Term)
WITH dialogue, amr, target, score, n.position AS position, x.text AS other
ORDER BY dialogue, amr, position
RETURN dialogue, collect({
  amr: amr, position: position, op: 'set', concept: other, target: target, score: score,
  // All edits of a graph belong to the same site, so that all pronouns of the graph change together.
  site: amr}) AS edits
