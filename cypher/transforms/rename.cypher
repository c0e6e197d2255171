// rename: Swaps names of one type of entity, and numbers of one unit or thing, between turns.
// category: C-ent
// source: Gupta et al. (2021), error category C-ent and baseline Token-subs
// target: dialogue
//
// Before: A: Anna, when does your train leave?  B: It leaves at half past seven.  A: Is Peter going with you?
// After:  A: Peter, when does your train leave?  B: It leaves at half past seven.  A: Is Peter going with you?
// Graph:  (p / person :name (n / name :op1 "Anna")) => (p / person :name (n / name :op1 "Peter"))
//
// Edits of names: person with person, city with city. Edits of numbers: the :quant of a unit (dollars with
// dollars), of countable things ("two rooms" with "three rooms"), and :value of ordinals and the like.
//
// Departures from Gupta et al.:
// - Token-subs replaces words by words; this transform swaps names and numbers of one type, so that the sentence stays
//   grammatical and only the entity is wrong.
// - A title alone ("Sir", "Mum") is no name. A name with a :wiki link moves with its whole entity, so that the link
//   stays true; an entity with further branches beside both is skipped.
// - The turns after a changed name show the error, so that all sites are for negatives of whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// A name or a number; "names" is the type, for example "name person" or "quant dollar".
WHERE n.names IS NOT NULL
RETURN d.id AS dialogue, collect(
  CASE WHEN n.value IS NULL
    // A name is a subtree: the engine copies that of a partner from the same pool.
    THEN {amr: n.amr, k: n.k, op: 'graft', own: n.name, pool: n.names}
    // A number is a constant: the engine gives it the value of a partner.
    ELSE {amr: n.amr, k: n.k, op: 'set', value: n.value, own: n.value, pool: n.names}
  END) AS edits
