// The edits of variants, to be laid over the originals.
// $parts: lists of ids of variants
// Columns: part (place in $parts), edits (lists: place of the variant, step, the fields of an Edit)
UNWIND range(0, size($parts) - 1) AS i
UNWIND range(0, size($parts[i]) - 1) AS j
MATCH (v:Variant {id: $parts[i][j]})-[s:APPLIED]->(e:Edit)
RETURN i AS part,
       collect([j, s.step, e.transform, e.category, e.site, e.op, e.amr, e.k, e.role,
                e.concept, e.value, e.from_amr, e.from_k, e.copy_of]) AS edits
