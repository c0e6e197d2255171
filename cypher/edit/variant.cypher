// Return the edits of variants (edited copies of dialogues). The caller applies the edits to the unedited graphs.
// $parts: lists of variant ids; one row is returned for each list
// Columns: part (index of the list in $parts), edits. Each edit is a list: index of its variant in the list of ids,
//          number of the edit within the variant, and the fields of an Edit.
UNWIND range(0, size($parts) - 1) AS i
UNWIND range(0, size($parts[i]) - 1) AS j
MATCH (v:Variant {id: $parts[i][j]})-[s:APPLIED]->(e:Edit)
RETURN i AS part,
       collect([j, s.step, e.transform, e.category, e.site, e.op, e.amr, e.position, e.role,
                e.concept, e.value, e.from_amr, e.from_position, e.copy_of, e.voice, e.frame]) AS edits
