// Delete variants and their edits, so that other edits can be written under the same ids.
// $ids: ids of variants
// Columns: variants (number of variants deleted)
UNWIND $ids AS id
MATCH (v:Variant {id: id})
OPTIONAL MATCH (v)-[:APPLIED]->(e:Edit)
DETACH DELETE e, v
RETURN count(DISTINCT id) AS variants
