// negate: Flips the polarity of a main predicate: adds :polarity -, or drops it where it stands.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), contradiction
//
// Modals are negated themselves. Questions, bare nominals, exclamations, thanks, and clauses that
// are negative in other words stay as they are. A response denies what its speaker has said before;
// what nobody said could be denied as well, and what the rest of the turn says again would be taken
// back there: such sites are for negatives of whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (p:AmrNode {amr: t.amr})
WHERE p.denied_by IS NOT NULL
   OR p.clause IN ['statement', 'order', 'answer'] AND p.negated IS NULL
WITH d.id AS dialogue, p, coalesce(p.echo, []) AS echo
WITH dialogue, p, size(echo) AS score,
     CASE WHEN NOT 'own' IN echo OR 'turn' IN echo THEN 'dialogue' END AS target
RETURN dialogue, collect(CASE WHEN p.denied_by IS NULL
    THEN {amr: p.amr, k: p.k, op: 'add', role: 'polarity', value: '-', target: target, score: score}
    ELSE {amr: p.amr, k: p.denied_by, op: 'drop', target: target, score: score} END) AS edits
