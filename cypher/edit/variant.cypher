// The edits of variants, to be laid over the originals.
// $variants: ids of variants
// Columns: variant, edits (lists of step, then the fields of an Edit in their order)
UNWIND $variants AS id
MATCH (v:Variant {id: id})-[s:APPLIED]->(e:Edit)
RETURN id AS variant,
       collect([s.step, e.transform, e.category, e.site, e.op, e.amr, e.k, e.role,
                e.concept, e.value, e.from_amr, e.from_k, e.copy_of]) AS edits
