// retime: Changes times: dates, weekdays, clock times, and the numbers in durations; dates an undated predicate.
// category: C-time
// source: Gupta et al. (2021), error category C-time
// target: dialogue
//
// Edits of numbers: month, day, year and clock time of a date-entity ("at 9" becomes "at 1"), and the
// :quant of a duration ("six years" becomes "eighteen years"), but no other number.
// A date-entity gets another month, day, year, weekday or hour; what MOVES_TO another time does
// so: today becomes yesterday, before after, an hour a week; six years become eighteen. A main
// predicate gets :time yesterday or :time tomorrow, each a site, unless a time, a condition, a
// negation or a mood stands in it already, or it is a state, a modal or a reified role. What the
// text puts in the past gets no yesterday and what it puts in the future no tomorrow: that would
// not clash with anything. The turns after another time show that it is wrong.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.says_when OR n.number IS NOT NULL OR n.event
OPTIONAL MATCH (n)-[:LEXEME]->(:Term)-[:MOVES_TO {how: 'time'}]->(x:Term)
WITH d.id AS dialogue, n, CASE WHEN n.fixed IS NULL THEN x.text END AS other, n.number AS number,
     n.amr + '.' + toString(n.k) AS at, size(coalesce(n.echo, [])) AS score
WITH dialogue, n, other, at, score, CASE
       WHEN n.role = 'month' THEN toString((number + 4) % 12 + 1)
       WHEN n.role = 'day' THEN toString((number + 9) % 28 + 1)
       WHEN n.role = 'year' THEN toString(number + CASE WHEN number > 20 THEN -20 ELSE 20 END)
       WHEN n.role = 'quant' AND number > 1 THEN toString(number * 3)
       WHEN n.role = 'time' AND number >= 0
         THEN '"' + toString((number + 4) % 12 + 1) + right(replace(n.value, '"', ''), 3) + '"'
       END AS value
UNWIND CASE
    WHEN value IS NOT NULL THEN [{amr: n.amr, k: n.k, op: 'set', value: value, score: score}]
    WHEN n.says_when AND other IS NOT NULL
      THEN [{amr: n.amr, k: n.k, op: 'set', concept: other, score: score}]
    ELSE [day IN ['yesterday', 'tomorrow'] WHERE n.event AND n.tense <> 'mixed'
          AND n.tense <> CASE day WHEN 'yesterday' THEN 'past' ELSE 'future' END
        | {amr: n.amr, k: n.k, op: 'add', role: 'time', concept: day, site: at + '<' + day}]
    END AS edit
RETURN dialogue, collect(edit) AS edits
