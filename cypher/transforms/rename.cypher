// rename: Swaps names of one type of entity, and numbers of one unit, between turns.
// category: C-ent
// source: Gupta et al. (2021), error category C-ent and baseline Token-subs
//
// A title alone is no name. A name that comes with a :wiki of its own moves with the whole entity, where that is all there is.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH d.id AS dialogue, t.amr AS amr, collect(n) AS ns
WITH dialogue, amr, ns, [n IN ns WHERE n.concept = 'name' AND n.role = 'name' AND n.last > n.k
       OR n.role IN ['quant', 'value'] AND n.value =~ '[0-9]+'] AS found
UNWIND found AS n
WITH dialogue, amr, ns, n, [p IN ns WHERE p.k = n.up][0] AS p
WITH dialogue, amr, n, p,
     [k IN range(n.k + 1, n.last) | [c IN ns WHERE c.k = k | c.value][0]] AS words,
     [c IN ns WHERE c.up = p.k AND c.role = 'wiki' AND c.value <> '-'] AS wiki,
     [c IN ns WHERE c.up = p.k AND c.role = 'unit' | c.concept][0] AS unit,
     [c IN ns WHERE c.up = p.k AND c.role <> 'wiki'] AS below
WHERE size(wiki) = 0 OR size(below) = 1
WITH dialogue, amr, n, p, unit, wiki, reduce(own = '', w IN words | own + ' ' + coalesce(w, '')) AS own
WHERE NOT own =~ ' "[!?.,;:-]*"' AND NOT own IN [' "Miss"', ' "Mr"', ' "Mr."', ' "Mrs"', ' "Mrs."', ' "Ms"', ' "Sir"', ' "Madam"', ' "Doctor"', ' "Mum"', ' "Dad"']
RETURN dialogue, collect(CASE
    WHEN n.concept IS NULL AND n.role = 'quant' THEN {amr: amr, k: n.k, op: 'set', value: n.value, own: n.value,
      pool: 'quant ' + CASE WHEN p.concept ENDS WITH '-quantity' THEN coalesce(unit, p.concept) ELSE 'count' END}
    WHEN n.concept IS NULL THEN {amr: amr, k: n.k, op: 'set', value: n.value, own: n.value, pool: 'value ' + p.concept}
    WHEN size(wiki) > 0 THEN {amr: amr, k: p.k, op: 'graft', own: own, pool: 'entity ' + p.concept}
    ELSE {amr: amr, k: n.k, op: 'graft', own: own, pool: 'name ' + p.concept} END) AS edits
