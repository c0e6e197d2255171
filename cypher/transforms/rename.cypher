// rename: Swaps names of one type of entity, and numbers of one unit or thing, between turns.
// category: C-ent
// source: Gupta et al. (2021), error category C-ent and baseline Token-subs
// target: dialogue
//
// Edits of names: person with person, city with city. Edits of numbers: the :quant of a unit (dollars with
// dollars), of countable things ("two rooms" with "three rooms"), and :value of ordinals and the like.
// A title alone is no name. A name with a :wiki of its own moves with the whole entity, where that
// is all. The turns after a renamed one show that it is wrong: sites are for negatives of dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.names IS NOT NULL
RETURN d.id AS dialogue, collect(CASE WHEN n.value IS NULL
    THEN {amr: n.amr, k: n.k, op: 'graft', own: n.name, pool: n.names}
    ELSE {amr: n.amr, k: n.k, op: 'set', value: n.value, own: n.value, pool: n.names}
    END) AS edits
