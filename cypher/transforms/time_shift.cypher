// time_shift: Changes dates, weekdays, clock times and the numbers in durations, or adds a day to a predicate without a time.
// category: C-time
// source: Gupta et al. (2021), error category C-time
// target: dialogue
//
// Before: B: Not yet. I need two more days.  A: The customer expects it on Wednesday.  B: I know.
// After:  B: Not yet. I need two more days.  A: The customer expects it on Sunday.  B: I know.
// Graph:  (e / expect-01 ... :time (d / date-entity :weekday (w / wednesday)))
//   => (e / expect-01 ... :time (d / date-entity :weekday (s / sunday)))
//
// Numbers are changed in dates (month, day, year and clock time: "at 9" becomes "at 2") and as the :quant of a duration
// ("six years" becomes "eighteen years"). Other numbers are kept. Words are replaced along the ALTERNATIVE
// relationships of the lexicon: "today" becomes "yesterday", "before" becomes "after", "hour" becomes "week". A main
// predicate without a time gets either :time yesterday or :time tomorrow.
//
// Departures: Gupta et al. name the error category, but no method for it. The rules are this project's own:
// - No time is added to a clause with a time, a condition, a negation or a mood. Nor is a time added to states, modals
//   and reified roles, because nobody says "I like tea yesterday".
// - "Yesterday" is not added to a text in the past, nor "tomorrow" to a text in the future, because they would not
//   contradict anything.
// - Often only the turns after a changed time show that the time is wrong. Therefore the transform is only used for
//   negatives that are whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The word says when or how long: "Wednesday", "soon", "before".
  n.temporal
  // The number is part of a date, a clock time or a duration: "at 9", "six years".
  OR n.time_number IS NOT NULL
  // The predicate is an event without a time: "I walked home".
  OR n.undated_event
OPTIONAL MATCH (n)-[:LEXEME]->(:Term)-[:ALTERNATIVE {scale: 'time'}]->(x:Term)
WITH d.id AS dialogue, n,
     // In "two days before the party", no other word can take the place of "before", so it gets no new word.
     CASE WHEN n.fixed_time IS NULL THEN x.text END AS new_word,
     n.time_number AS number,
     // A changed time contradicts more turns if the dialogue has mentioned the time before, so the score makes the engine
     // prefer such times.
     size(coalesce(n.repeats, [])) AS score
WITH dialogue, n, new_word, score,
     CASE
       // Add five months, modulo 12: December becomes May.
       WHEN n.role = 'month' THEN toString((number + 4) % 12 + 1)
       // Add ten days, modulo 28, so that the day exists in every month: the 25th becomes the 7th.
       WHEN n.role = 'day' THEN toString((number + 9) % 28 + 1)
       // Subtract 20 years: 1990 becomes 1970. Add 20 to years up to 20, because the result must be positive.
       WHEN n.role = 'year' THEN toString(number + CASE WHEN number > 20 THEN -20 ELSE 20 END)
       // Multiply by three: "six years" becomes "eighteen years". In "one year", the unit changes and not the number.
       WHEN n.role = 'quant' AND number > 1 THEN toString(number * 3)
       // Add five hours on a twelve-hour clock and keep the minutes: "9:30" becomes "2:30".
       WHEN n.role = 'time' AND number >= 0
         THEN '"' + toString((number + 4) % 12 + 1) + right(replace(n.value, '"', ''), 3) + '"'
     END AS new_value
UNWIND CASE
    // The node is a number: "at 9" becomes "at 2".
    WHEN new_value IS NOT NULL THEN [{amr: n.amr, position: n.position, op: 'set', value: new_value, score: score}]
    // The node is a word: "Wednesday" becomes "Sunday".
    WHEN n.temporal AND new_word IS NOT NULL
      THEN [{amr: n.amr, position: n.position, op: 'set', concept: new_word, score: score}]
    // The node is a predicate without a time: "I walked home" becomes "I walked home tomorrow".
    ELSE [day IN ['yesterday', 'tomorrow'] WHERE
          n.undated_event
          // Skip "I walked home and I'll go out again": "yesterday" fits its first clause, and "tomorrow" its second.
          AND n.tense <> 'mixed'
          // "I walked home" gets "tomorrow", "I'll walk home" gets "yesterday", and "I walk home" can get "yesterday"
          // or "tomorrow".
          AND n.tense <> CASE day WHEN 'yesterday' THEN 'past' ELSE 'future' END
        | {amr: n.amr, position: n.position, op: 'add', role: 'time', concept: day,
           site: n.amr + '.' + toString(n.position) + '<' + day}]
    END AS edit
RETURN dialogue, collect(edit) AS edits
