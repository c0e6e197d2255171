// retime: Changes times: dates, weekdays, clock times, and the numbers in durations; dates an undated predicate.
// category: C-time
// source: Gupta et al. (2021), error category C-time
// target: dialogue
//
// Before: B: Not yet. I need two more days.  A: The customer expects it on Wednesday.  B: I know.
// After:  B: Not yet. I need two more days.  A: The customer expects it on Sunday.  B: I know.
// Graph:  (e / expect-01 ... :time (d / date-entity :weekday (w / wednesday)))
//   => (e / expect-01 ... :time (d / date-entity :weekday (s / sunday)))
//
// Edits of numbers: month, day, year and clock time of a date-entity ("at 9" becomes "at 2"), and the
// :quant of a duration ("six years" becomes "eighteen years"), but no other number.
// Edits of words: the MOVES_TO edges of the lexicon lead from "today" to "yesterday", from "before" to "after", from
// "hour" to "week". A main predicate without a time gets :time yesterday or :time tomorrow, each as a site.
//
// Departures: Gupta et al. name the error category, but no method for it. The rules are this project's own:
// - No time is added to a clause that has a time, a condition, a negation or a mood, nor to states, modals and
//   reified roles: "I like tea yesterday" is not said.
// - A text in the past gets no "yesterday", and a text in the future no "tomorrow": they would clash with nothing.
// - The turns after a changed time show the error, so that all sites are for negatives of whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // A word that says when or how long: "Wednesday", "soon", "before".
  n.says_when
  // A number of a date, a duration or a clock time.
  OR n.number IS NOT NULL
  // A predicate that tells what happens, on a day that is left open: "I walked home".
  OR n.event
OPTIONAL MATCH (n)-[:LEXEME]->(:Term)-[:MOVES_TO {how: 'time'}]->(x:Term)
WITH d.id AS dialogue, n,
     // "two days before the party": no other word fits there.
     CASE WHEN n.fixed IS NULL THEN x.text END AS other,
     n.number AS number,
     n.amr + '.' + toString(n.k) AS at,
     // The engine prefers times that the dialogue has said before: their change clashes with more turns.
     size(coalesce(n.echo, [])) AS score
WITH dialogue, n, other, at, score,
     CASE
       // Five months later, within 1 to 12: December becomes May.
       WHEN n.role = 'month' THEN toString((number + 4) % 12 + 1)
       // Ten days later, within 1 to 28: the day exists in every month.
       WHEN n.role = 'day' THEN toString((number + 9) % 28 + 1)
       // 1990 becomes 1970. Years up to 20 go up, because the result must stay positive.
       WHEN n.role = 'year' THEN toString(number + CASE WHEN number > 20 THEN -20 ELSE 20 END)
       // "six years" becomes "eighteen years". "one year" keeps its number; its unit changes instead.
       WHEN n.role = 'quant' AND number > 1 THEN toString(number * 3)
       // Five hours later on the clock; the minutes (":30") stay.
       WHEN n.role = 'time' AND number >= 0
         THEN '"' + toString((number + 4) % 12 + 1) + right(replace(n.value, '"', ''), 3) + '"'
     END AS value
UNWIND CASE
    WHEN value IS NOT NULL THEN [{amr: n.amr, k: n.k, op: 'set', value: value, score: score}]
    WHEN n.says_when AND other IS NOT NULL
      THEN [{amr: n.amr, k: n.k, op: 'set', concept: other, score: score}]
    ELSE [day IN ['yesterday', 'tomorrow'] WHERE
          n.event
          // "I walked home and I'll go out again" has no single tense to clash with.
          AND n.tense <> 'mixed'
          // "I walked home" gets "tomorrow", "I'll walk home" gets "yesterday", "I walk home" gets either.
          AND n.tense <> CASE day WHEN 'yesterday' THEN 'past' ELSE 'future' END
        | {amr: n.amr, k: n.k, op: 'add', role: 'time', concept: day, site: at + '<' + day}]
    END AS edit
RETURN dialogue, collect(edit) AS edits
