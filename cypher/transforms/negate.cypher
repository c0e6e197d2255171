// negate: Flips the polarity of a main predicate: adds :polarity -, or drops it where it stands.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), contradiction
// target: dialogue
//
// Modals are negated themselves. Questions, bare nominals, exclamations, thanks, and clauses that
// are negative in other words stay as they are. What a response denies nobody has said before: it
// could be denied as well. The turns after a denial show that it is wrong, the more so where the
// same was said before.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (p:AmrNode {amr: t.amr})
WHERE p.denied_by IS NOT NULL
   OR p.clause IN ['statement', 'order', 'answer'] AND p.negated IS NULL
WITH d.id AS dialogue, p, size(coalesce(p.echo, [])) AS score
RETURN dialogue, collect(CASE WHEN p.denied_by IS NULL
    THEN {amr: p.amr, k: p.k, op: 'add', role: 'polarity', value: '-', score: score}
    ELSE {amr: p.amr, k: p.denied_by, op: 'drop', score: score} END) AS edits
