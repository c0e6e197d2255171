// rename: Swaps names of one type of entity, and numbers of one unit, between turns.
// category: C-ent
// source: Gupta et al. (2021), error category C-ent and baseline Token-subs
//
// A title alone is no name. A name with a :wiki of its own moves with the whole entity, where that
// is all. What nobody has named yet could have any name: such sites are for negatives of whole
// dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.names IS NOT NULL
WITH d.id AS dialogue, n, CASE WHEN n.echo IS NULL THEN 'dialogue' END AS target
RETURN dialogue, collect(CASE WHEN n.value IS NULL
    THEN {amr: n.amr, k: n.k, op: 'graft', own: n.name, pool: n.names, target: target}
    ELSE {amr: n.amr, k: n.k, op: 'set', value: n.value, own: n.value, pool: n.names,
          target: target} END) AS edits
