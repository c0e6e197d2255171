// Removes variants that other edits take the place of. $ids: ids of variants
// Columns: variants
UNWIND $ids AS id
MATCH (v:Variant {id: id})
OPTIONAL MATCH (v)-[:APPLIED]->(e:Edit)
DETACH DELETE e, v
RETURN count(DISTINCT id) AS variants
