// entity_swap: Swaps names of the same type of entity, and numbers of the same unit or thing, between turns.
// category: C-ent
// source: Gupta et al. (2021), error category C-ent and baseline Token-subs
// target: dialogue
//
// Before: A: Anna, when does your train leave?  B: It leaves at half past seven.  A: Is Peter going with you?
// After:  A: Peter, when does your train leave?  B: It leaves at half past seven.  A: Is Peter going with you?
// Graph:  (p / person :name (n / name :op1 "Anna")) => (p / person :name (n / name :op1 "Peter"))
//
// Names are swapped with names of the same type: a person with a person, a city with a city. Numbers are swapped in
// three cases: if they are the :quant of the same unit (dollars with dollars), if they are the :quant of countable
// things ("two rooms" with "three rooms"), or if they are the :value of the same concept, such as an ordinal.
//
// Departures from Gupta et al.:
// - The baseline Token-subs replaces arbitrary words. This transform swaps names and numbers of the same type, so that
//   the sentence stays grammatical and only the entity is wrong.
// - A title alone ("Sir", "Mum") does not count as a name. If an entity has a name and a :wiki link, the whole entity
//   is swapped, so that the link stays true. If it also has other branches, it is skipped.
// - Readers notice a changed name or number by the turns after it. Therefore the transform is only used for negatives
//   of whole dialogues.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// The node is a name or a number. The property entity_type is the type of the named entity ("name person") or the unit
// of the number ("quant dollar").
WHERE n.entity_type IS NOT NULL
RETURN d.id AS dialogue, collect(
  CASE WHEN n.value IS NULL
    // A name is a subtree: (n / name :op1 "Anna"). The engine replaces the subtree by a copy of another subtree with the
    // same swap_pool.
    THEN {amr: n.amr, position: n.position, op: 'graft', content: n.entity_text, swap_pool: n.entity_type}
    // A number is a constant: "two rooms". The engine replaces the number by another number with the same swap_pool.
    ELSE {amr: n.amr, position: n.position, op: 'set', value: n.value, content: n.value, swap_pool: n.entity_type}
  END) AS edits
