// topical_statement: Replaces the response by a statement from another dialogue that shares a noun with the context of the response.
// category: C-follow
// source: Key-sem (Gupta et al. 2021), on graphs
// needs: donors
//
// Before: A: He was inside, but the window was open.  B: Then close the window next time, please.
//   A: I promise that it won't happen again.
// After:  A: He was inside, but the window was open.  B: Then close the window next time, please.
//   A: I left the windows open.   (from another dialogue)
// Graph:  (p / promise-01 ...) => (l / leave-13 :ARG0 (i / i) :ARG1 (o / open-09 :ARG1 (w / window)))
//
// A donor is an utterance of another dialogue of the same corpus and split. Each donor is listed for at most two
// dialogues, but not for the dialogues just before and after the dialogue from which it comes, because they may be parts
// of the same conversation. A dialogue copies a sentence only once. The statements of a donor are its sentences that
// have four to twenty nodes, are no questions or orders, and refer to nothing before them. For each turn, up to four
// statements are proposed as replacements. The query works in three steps:
//   1. Read the nouns of the dialogue, and the statements of its donors with their nouns.
//   2. For each turn, choose statements that share a noun with the context, or that can be made to share a noun.
//   3. Replace the turn by each of these statements, and change one noun of the copy if necessary.
//
// Departures from Gupta et al.:
// - Key-sem generates a response from keywords with a language model. This transform copies a sentence from the corpus
//   and changes at most one noun.
// - The statement must share a noun with the context. If it does not, one of its nouns is replaced by a noun of the
//   context. This noun must belong to the same noun class and fit the predicate: "I sold the boat" becomes "I sold the
//   car". If no noun can be replaced in this way, the statement is not used, because any ranker would recognise a
//   response that shares nothing with the context.
// - The text must share a content word with the context. A text that shares only greetings or vague words, such as
//   "time", is refused as off-topic.

// Step 1: read the graphs of the dialogue and of its donors: utterances of other dialogues from which it may copy.
// Donors get the turn number -1, because they are not turns of the dialogue.
UNWIND $dialogues AS d
UNWIND [t IN d.turns | {amr: t.amr, turn: t.turn, of_donor: false}]
  + [amr IN d.donors | {amr: amr, turn: -1, of_donor: true}] AS graph
MATCH (n:AmrNode {amr: graph.amr})
WHERE
  // The node is a noun that a speaker can mention again, such as "window". Names, units and vague nouns such as "case"
  // are excluded.
  n.topical
  // The node is the top of a sentence that fits any dialogue: "I left the windows open."
  OR graph.of_donor AND n.context_free
WITH d.id AS id, d, graph.of_donor AS of_donor, graph.turn AS turn, graph.amr AS amr, n.position AS position, n
ORDER BY id, turn, amr, position
WITH d, collect({
       of_donor: of_donor, turn: turn, amr: amr, position: position, sentence_top: n.sentence_top,
       context_free: n.context_free, word: n.concept, noun_class: n.noun_class,
       // True if the noun can replace a noun of a statement: "car", but not an abstract noun ("possibility") or a fixed
       // phrase ("in fact"), which rarely fit another sentence.
       concrete: coalesce(n.kind, 'other') <> 'other' AND NOT n.concept CONTAINS '-',
       // True if other nouns of the same class can replace this noun: "I sold the boat" can become "I sold the car".
       // "Bus" in "I take the bus" cannot be replaced if "take" does not accept every vehicle.
       replaceable: n.substitutable_kind IS NOT NULL
         AND (n.selectional_preferences IS NULL OR n.noun_class IN n.selectional_preferences)}) AS nodes
WITH d,
     [n IN nodes WHERE NOT n.of_donor] AS dialogue_nouns,
     [n IN nodes WHERE n.of_donor AND n.context_free] AS statement_tops,
     // Use only nouns with a noun class, because only these can be compared with the nouns of the context.
     [n IN nodes WHERE n.of_donor AND n.noun_class <> ''] AS donor_nouns
WITH d, dialogue_nouns, [top IN statement_tops | {
       amr: top.amr, position: top.position,
       nouns: [noun IN donor_nouns WHERE noun.amr = top.amr AND noun.sentence_top = top.position]}] AS statements

// Step 2: for each turn, choose statements that share a noun with the context, or that can be made to share one.
UNWIND d.turns AS t
// The context of a turn consists of the turns before it.
WITH d.id AS dialogue, t.amr AS amr, t.turn AS turn, statements,
     [noun IN dialogue_nouns WHERE noun.turn < t.turn] AS context
WITH dialogue, amr, turn, context, [statement IN statements | {
       amr: statement.amr, position: statement.position,
       // Keep the nouns of the statement that also occur in the context, or that a noun of the context can replace.
       nouns: [noun IN statement.nouns WHERE any(other IN context WHERE
         // "I left the windows open" shares "window" with "The window was open".
         other.word = noun.word
         // "I sold the boat" can become "I sold the car" after "My car is new".
         OR noun.replaceable AND other.concrete AND other.noun_class = noun.noun_class)]}] AS statements
// Drop statements that share no noun with the context and cannot be made to share one.
WITH dialogue, amr, turn, context, [statement IN statements WHERE size(statement.nouns) > 0] AS statements
// Choose up to four statements. Each turn starts at a different place in the list, so that turns get different
// statements.
UNWIND [i IN [0, 1, 2, 3] WHERE i < size(statements) | statements[(turn * 4 + i) % size(statements)]] AS statement

// Step 3: replace the turn by the statement. If the context does not mention the statement's noun, such as "boat",
// replace it by a noun of the context.
WITH dialogue, amr, turn, context, statement,
     // Prefer a noun that the context also contains, because such a noun need not be replaced.
     [noun IN statement.nouns WHERE any(other IN context WHERE other.word = noun.word)] AS shared
WITH dialogue, amr, turn, context, statement, size(shared) AS shared_nouns,
     CASE WHEN size(shared) > 0 THEN shared[0] ELSE statement.nouns[0] END AS noun
WITH dialogue, amr, turn, statement, shared_nouns, noun, [other IN context WHERE
       // Keep the nouns of the context that are equal to the noun of the statement ("boat") or can replace it ("car").
       other.word = noun.word
       OR noun.replaceable AND other.concrete AND other.noun_class = noun.noun_class
       | other.word] AS counterparts
WITH dialogue, amr, statement, noun,
     // The score makes the engine prefer statements that already share many nouns with the context. Among equals, it
     // prefers a statement whose noun can be replaced by many nouns of the context.
     size(counterparts) + 1000 * shared_nouns AS score,
     CASE
       // If the context also mentions the noun of the statement ("window"), do not replace the noun.
       WHEN noun.word IN counterparts THEN noun.word
       // "I sold the boat" becomes "I sold the car" if the context mentions a car. If several nouns of the context fit,
       // the turn number and the position of the node determine which one is used, because Cypher has no seeded random
       // function.
       ELSE counterparts[(turn + noun.position) % size(counterparts)]
     END AS new_word
UNWIND
  // Copy the statement in place of the whole graph of the turn.
  [{position: 0, op: 'graft', from_amr: statement.amr, from_position: statement.position}]
  // Replace the noun in the copied statement: "boat" by "car".
  + CASE WHEN new_word = noun.word THEN []
      ELSE [{position: noun.position, op: 'set', concept: new_word, copy_of: statement.amr}] END AS edit
RETURN dialogue, collect(edit {.*, amr: amr, score: score,
                               site: amr + '<' + statement.amr + '.' + toString(statement.position)}) AS edits
