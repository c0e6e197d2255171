// dialogue_act_change: Changes the dialogue act: statement, yes/no question, order, refusal, agreement or doubt.
// category: C-strat
// source: Gupta et al. (2021), error category C-strat
// target: dialogue
//
// Before: A: It makes a loud noise.  B: Did you turn it off?  A: Yes, I turned it off immediately.
// After:  A: It makes a loud noise.  B: You turned it off.  A: Yes, I turned it off immediately.
// Graph:  (t / turn-off-07 :polarity (a / amr-unknown) :ARG0 (y / you) :ARG1 (i / it))
//   => (t / turn-off-07 :ARG0 (y / you) :ARG1 (i / it))
//
// A statement becomes a yes/no question (:polarity amr-unknown). A statement with "you" as :ARG0 can also become an
// order (:mode imperative). A statement that is the whole graph can also become something that the speaker refuses,
// agrees to or doubts. A yes/no question becomes a statement, and an order becomes a yes/no question.
//
// Departures: Gupta et al. name the error category, but no method for it. The rules are this project's own:
// - An order becomes a question and not a statement, because "You open the window" would still be an order. An order
//   with a :polarity ("Don't go") is the exception: it becomes a statement, because a question would need a second
//   :polarity.
// - Clauses about what the speaker thinks, hopes or regrets are skipped, because nobody asks about or doubts their own
//   thoughts. For the same reason, statements about the speaker ("I love whiskey") become neither questions nor doubts.
// - States are not refused, because nobody refuses to want, to have or to be.
// - Long sentences, reported speech, and sentences with a clause of time or condition do not become questions.
// - States such as "you have" and "you know" do not become orders.
// - The changed utterance often fits the turns before it, but it contradicts the turns that follow. Therefore the
//   transform is only used for negatives of whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (p:AmrNode {amr: t.amr})
// The property alternative_acts lists the dialogue acts into which the clause can be changed: tell (a statement), ask
// (a question), order, doubt, agree or refuse. For "You turned it off.", the list contains ask and doubt.
WHERE p.alternative_acts IS NOT NULL
WITH d.id AS dialogue, p,
     // The position of the node that makes the clause a question (amr-unknown below :polarity) or an order (imperative
     // below :mode). It is null for a statement.
     coalesce(p.question_position, p.imperative_position) AS mark
UNWIND p.alternative_acts AS act
WITH dialogue, p.amr AS amr, p.position AS position, act, mark,
     CASE
       // An affirmative order becomes a question by two edits: tell drops the node that makes the clause an order, and
       // ask adds the node that makes it a question. Both edits get the same site name, so they are applied together:
       // "Turn it off!" becomes "Do you turn it off?"
       WHEN mark IS NOT NULL THEN p.amr + '.' + toString(mark)
       WHEN act = 'ask' THEN p.amr + '.' + toString(p.position) + '?'
       WHEN act = 'order' THEN p.amr + '.' + toString(p.position) + '!'
       WHEN act = 'doubt' THEN p.amr + '<doubt-01'
       // The acts agree and refuse can have the same site name, because alternative_acts never contains both for the
       // same clause.
       ELSE p.amr + '<act'
     END AS site
UNWIND CASE act
    // "Did you turn it off?" becomes "You turned it off."
    WHEN 'tell' THEN [{amr: amr, position: mark, op: 'drop', site: site}]
    // "You turned it off." becomes "Did you turn it off?"
    WHEN 'ask' THEN [{amr: amr, position: position, op: 'add', role: 'polarity', concept: 'amr-unknown', site: site}]
    // "You turn it off." becomes "Turn it off!"
    WHEN 'order' THEN [{amr: amr, position: position, op: 'add', role: 'mode', value: 'imperative', site: site}]
    // "You turned it off." becomes "I doubt that you turned it off." In the second edit, the position -1 stands for the
    // new top, doubt-01.
    ELSE [{amr: amr, position: 0, op: 'wrap', role: 'ARG1', concept: act + '-01', site: site},
          {amr: amr, position: -1, op: 'add', role: 'ARG0', concept: 'i', site: site}] END AS edit
RETURN dialogue, collect(edit) AS edits
