// Delete variants with their edits, before other edits are written under the same ids.
// $ids: ids of variants
// Columns: variants (number of ids)
UNWIND $ids AS id
MATCH (v:Variant {id: id})
OPTIONAL MATCH (v)-[:APPLIED]->(e:Edit)
DETACH DELETE e, v
RETURN count(DISTINCT id) AS variants
